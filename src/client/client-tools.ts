import type { Connection } from './method.ts';
import type { CallOptions } from './request.ts';

/** Servers of tools that agents call. */

export function tools({ method, plain, request }: Connection) {
  return {
    /** What versions can name. */
    tools: { list: plain('listTools.tools') },
    toolServers: {
      /** Returns the signing secret too, which is shown once. */
      create: plain('createToolServer'),
      list: plain('listToolServers.toolServers'),
      get: plain('getToolServer'),
      /** Also returns the `etag`, which makes a later `update` or `delete` safe against concurrent changes. */
      async getWithEtag(toolServerId: string, options?: CallOptions) {
        const route = 'GET /api/v1/tool-servers/{toolServerId}';
        const { body, headers } = await request(route, { params: { toolServerId } }, options);
        return { toolServer: body, etag: headers.get('etag') };
      },
      update: plain('updateToolServer'),
      delete: plain('deleteToolServer'),
      /** Returns the new secret. Both secrets sign during the grace period. */
      rotate(
        toolServerId: string,
        { graceSeconds = 0, ...options }: CallOptions & { readonly graceSeconds?: number } = {},
      ) {
        return method('rotateToolServer.signingSecret')(toolServerId, { graceSeconds }, options);
      },
      /** Whether it answers at all. */
      check: plain('checkToolServer'),
      /** A real call of a tool. */
      try(
        toolServerId: string,
        toolName: string,
        given: Readonly<Record<string, unknown>> = {},
        options?: CallOptions,
      ) {
        return method('tryTool')(toolServerId, toolName, { arguments: given }, options);
      },
    },
  };
}
