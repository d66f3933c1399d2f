import type { ToolOutcome, ToolPort, ToolRequest } from '../../../core/tools/tool-port.ts';
import type { PostTool } from '../../../core/tools/tool-post.ts';
import { isOutbound, toolURL } from '../../../core/tools/tool-server.ts';
import type { Db } from '../../../db/database.ts';
import { batcher } from '../../../engine/transaction/batcher.ts';
import { echoArguments } from '../rules/echo-arguments.ts';
import { ServerSlots } from '../rules/server-slots.ts';
import { failed, keptBytesOf, outcomeOf, refused } from '../rules/tool-outcome.ts';
import { callHeaders } from '../rules/tool-request.ts';
import { type CalledTool, readCalledTools } from '../statements/tool-servers.ts';
import { openSecrets } from './tool-secrets.ts';

/**
 * Sends calls of tools to their servers. The address, the credentials and whether the server may be called are those of today: an owner
 * who changes them or disables a server stops its calls at once. What the model was told of the tool is the version's.
 *
 * A call waits for a slot of its server before anything of it is sent, for at most half of its time: what is sent with no time left
 * has an unknown outcome. Throws database errors only.
 */
export interface ToolSenderDeps {
  readonly db: Db;
  readonly post: PostTool;
  /** From `deriveSealKey`. */
  readonly sealKey: Buffer;
  readonly version: string;
  /** Removes these secrets from a text. */
  readonly hideSecrets: (text: string, secrets: readonly string[]) => string;
}

/** A call of an execution, or one that somebody tries. */
export type SentRequest = Omit<ToolRequest, 'executionId' | 'digest'> & {
  readonly executionId: string | null;
};

export interface ToolSender extends ToolPort {
  send(request: SentRequest): Promise<ToolOutcome>;
}

const readsMax = 200;

export function createToolSender(deps: ToolSenderDeps): ToolSender {
  const slots = new ServerSlots();
  const reads = batcher<SentRequest, CalledTool | null>({
    ...{ sizeMax: readsMax, inFlightMax: 1, weight: () => 0 },
    async run(requests) {
      const found = await readCalledTools(deps.db, requests);
      const byKey = new Map(found.map((one) => [`${one.serverId} ${one.tool}`, one]));
      return requests.map(({ server, tool }) => byKey.get(`${server} ${tool}`) ?? null);
    },
  });

  async function send(request: SentRequest): Promise<ToolOutcome> {
    const called = await reads.add(request);
    const readAt = performance.now();
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
    const atMs = called.nowMs + performance.now() - readAt;
    const headers = {
      ...secrets.headers,
      'user-agent': `Cueline/${deps.version}`,
      ...callHeaders({ ...request, body, atMs }, secrets.signing),
    };
    const leftMs = Math.floor(timeoutMs - (performance.now() - readAt));
    const post = isOutbound(called.url) ? deps.post : echoArguments;
    const posted = await post({
      ...{ url, headers, body, signal, keptBytes: keptBytesOf(resultLimit) },
      timeoutMs: Math.max(1, leftMs),
    }).finally(release);
    const nowMs = called.nowMs + performance.now() - readAt;
    const hide = (text: string) => deps.hideSecrets(text, secrets.all);
    return outcomeOf(posted, { resultLimit, timeoutMs, nowMs, hide });
  }

  return { send, call: ({ digest: _, ...request }) => send(request) };
}

/** When a call that found no slot is tried again. */
const busyMs = 1_000;

function gone(called: CalledTool | null): string {
  return called ? 'The tool server no longer has this tool.' : 'The tool server no longer exists.';
}
