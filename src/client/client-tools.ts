import type { Connection } from './method.ts';
import type { CallOptions } from './request.ts';

/** Servers of tools that agents call. */

export function tools({ method, plain }: Connection) {
  return {
    /** What versions can name. */
    tools: { list: plain('listTools.tools') },
    toolServers: {
      /** Returns the signing secret too, which is shown once. */
      create: plain('createToolServer'),
      list: plain('listToolServers.toolServers'),
      get: plain('getToolServer'),
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
