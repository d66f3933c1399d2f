import type {
  CalledTool,
  ToolOutcome,
  ToolPort,
  ToolRequest,
} from '../../../core/tools/tool-port.ts';
import type { PostTool } from '../../../core/tools/tool-post.ts';
import { isOutbound, toolURL } from '../../../core/tools/tool-server.ts';
import { echoArguments } from '../rules/echo-arguments.ts';
import { ServerSlots } from '../rules/server-slots.ts';
import { failed, keptBytesOf, outcomeOf, refused } from '../rules/tool-outcome.ts';
import { callHeaders } from '../rules/tool-request.ts';
import { openSecrets } from './tool-secrets.ts';

/**
 * Sends calls of tools to their servers. The address, the credentials and whether the server may be called are those of the moment of
 * the dispatch: an owner who changes them or disables a server stops its calls at once. What the model was told of the tool is the
 * version's. Secrets are opened for each call: that takes 10 µs, and none stays in memory.
 *
 * A call waits for a slot of its server before anything of it is sent, for at most half of its time: what is sent with no time left
 * has an unknown outcome.
 */
export interface ToolSenderDeps {
  readonly post: PostTool;
  /** From `deriveSealKey`. */
  readonly sealKey: Buffer;
  readonly version: string;
  /** Removes these secrets from a text. */
  readonly hideSecrets: (text: string, secrets: readonly string[]) => string;
}

export function createToolSender(deps: ToolSenderDeps): ToolPort {
  const slots = new ServerSlots();

  async function call(request: ToolRequest): Promise<ToolOutcome> {
    const { called } = request;
    const calledAt = performance.now();
    if (called?.url == null || called.path === null) return failed(gone(called));
    if (!called.enabled) return failed('The tool server is disabled.');
    const secrets = openSecrets(deps.sealKey, called);
    if (!secrets) return failed('The credentials of the tool server cannot be decrypted.');
    const url = toolURL(called.url, called.path);
    if (url === null) return failed('The address of the tool is not valid.');
    const { timeoutMs, signal, resultLimit, argumentsJson: body } = request;
    const { maxConcurrency: max, serverId } = called;
    const slot = { max, executionId: request.executionId ?? '', waitMs: timeoutMs / 2, signal };
    const release = await slots.acquire(serverId, slot);
    if (!release) {
      const busy = `The tool server has its maximum of ${max} calls in flight.`;
      return refused(signal.aborted ? 'The call was aborted before it was sent.' : busy, busyMs);
    }
    const atMs = clockOf(called);
    const headers = {
      ...secrets.headers,
      'user-agent': `Cueline/${deps.version}`,
      ...callHeaders({ ...request, body, atMs }, secrets.signing),
    };
    const leftMs = Math.floor(timeoutMs - (performance.now() - calledAt));
    const post = isOutbound(called.url) ? deps.post : echoArguments;
    const posted = await post({
      ...{ url, headers, body, signal, keptBytes: keptBytesOf(resultLimit) },
      timeoutMs: Math.max(1, leftMs),
    }).finally(release);
    const nowMs = clockOf(called);
    const hide = (text: string) => deps.hideSecrets(text, secrets.all);
    return outcomeOf(posted, { resultLimit, timeoutMs, nowMs, hide });
  }

  return { call };
}

/** The database's clock. */
function clockOf({ nowMs, readAt }: CalledTool): number {
  return nowMs + performance.now() - readAt;
}

/** When a call that found no slot is tried again. */
const busyMs = 1_000;

function gone(called: CalledTool | null): string {
  return called ? 'The tool server no longer has this tool.' : 'The tool server no longer exists.';
}
