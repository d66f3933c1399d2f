import type { ExecutedTool } from './executed-tool.ts';
import { resultLimitDefault } from './tool-server.ts';

/** A tool of a server as a version names it. What the server says of it is copied when the version is created. */
export interface ToolReference {
  /** Name of the server. */
  readonly server: string;
  /** Name of the tool on the server. */
  readonly tool: string;
  /** As the model calls it; that of the server by default. */
  readonly name?: string;
  /** Instead of the server's. */
  readonly description?: string;
  readonly approval?: 'never' | 'always' | { readonly when: string };
  readonly safe?: boolean;
  readonly bind?: Readonly<Record<string, string>>;
  readonly resultLimit?: number;
}

/** The reference that froze a tool, without what is the default. */
export function referenceOf(tool: ExecutedTool): ToolReference {
  const { serverName: server, isDescribed, description, ...rest } = tool;
  const reference = { ...rest, server };
  return shortest({ ...reference, ...(isDescribed && description && { description }) });
}

/** The same reference without what is the default: equal ones are equal as JSON, but for the order of names. */
export function shortest(reference: ToolReference): ToolReference {
  const { server, tool, name = tool, description, safe = false, bind = {} } = reference;
  const { approval = 'always', resultLimit = resultLimitDefault } = reference;
  return {
    ...{ server, tool },
    ...(name !== tool && { name }),
    ...(description !== undefined && { description }),
    // A safe tool needs no approval unless it asks for one.
    ...(safe ? { safe } : { approval }),
    ...(Object.keys(bind).length > 0 && { bind }),
    ...(resultLimit !== resultLimitDefault && { resultLimit }),
  };
}
