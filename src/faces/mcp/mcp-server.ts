import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type StandardSchemaV1,
} from '@modelcontextprotocol/server';
import { refusalAdvice } from '../../core/execution/refusal-advice.ts';
import { asCallFailure } from '../../http/response/error-response.ts';
import { callTool, declaresTasks, tasksExtension } from './call-tool.ts';
import { listedTools } from './listed-tools.ts';
import type { Era, McpRequest } from './mcp-request.ts';
import { acknowledgeTask, cancelTask, getTask } from './tasks.ts';

/** The revisions with a handshake. The library adds those without. */
const handshakeRevisions = ['2025-11-25', '2025-06-18', '2025-03-26'];

const instructions =
  'Each tool is an agent or a workflow: a call executes it and returns what it wrote. A refused call says why, and when to try again.';

/**
 * The server of one request. The library speaks the protocol: revisions, headers, framing, errors of requests. Requests are
 * independent of each other, so there is a server for each.
 */
export function createMcpServer(mcp: McpRequest, era: Era, version: string): Server {
  const server = new Server(
    { name: 'cueline', title: 'Cueline', version },
    {
      capabilities: {
        tools: {},
        ...(era === 'modern' && { extensions: { [tasksExtension]: {} } }),
      },
      supportedProtocolVersions: handshakeRevisions,
      instructions,
    },
  );
  server.setRequestHandler('tools/list', ({ params }) =>
    guarded(mcp, () => mcp.budget.inTurn(() => listedTools(mcp, era, params?.cursor))),
  );
  server.setRequestHandler('tools/call', ({ params }, context) =>
    guarded(mcp, () => callTool(mcp, { era, name: params.name, context })),
  );
  // The tasks of earlier revisions are others.
  if (era === 'modern') {
    for (const [method, handle] of Object.entries(taskMethods)) {
      server.setRequestHandler(method, { params: taskParams }, ({ taskId }, context) => {
        if (!declaresTasks(context)) throw missingTasks();
        return guarded(mcp, () => handle(mcp, taskId));
      });
    }
  }
  return server;
}

/** Bounds the result. Reports an unexpected error to the log and hides it from the client. */
async function guarded<T extends object>(
  { request, budget }: McpRequest,
  handle: () => Promise<T>,
): Promise<T> {
  try {
    const result = await handle();
    budget.spend(result);
    return result;
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    const failure = asCallFailure(error);
    if (!failure) request.log.error({ err: error }, 'request failed');
    const message = failure ? refusalAdvice(failure, Date.now()) : 'Internal error.';
    throw new ProtocolError(ProtocolErrorCode.InternalError, message, { requestId: request.id });
  }
}

function missingTasks(): ProtocolError {
  const requiredCapabilities = { extensions: { [tasksExtension]: {} } };
  return new MissingRequiredClientCapabilityError({ requiredCapabilities });
}

const taskMethods: Readonly<
  Record<string, (mcp: McpRequest, taskId: string) => Promise<Record<string, unknown>>>
> = { 'tasks/get': getTask, 'tasks/cancel': cancelTask, 'tasks/update': acknowledgeTask };

/** In the form that the library takes from any validator. */
const taskParams: StandardSchemaV1<unknown, { readonly taskId: string }> = {
  '~standard': {
    version: 1,
    vendor: 'cueline',
    validate(value) {
      const { taskId } = (value ?? {}) as { taskId?: unknown };
      if (typeof taskId === 'string') return { value: { taskId } };
      return { issues: [{ message: 'Field "taskId" must be a string.' }] };
    },
  },
};
