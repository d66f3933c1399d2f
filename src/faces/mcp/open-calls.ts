import { createHash } from 'node:crypto';
import type { Shares } from '../../core/shares.ts';

/**
 * Cancellation of tool calls. The notification arrives as a request of its own, perhaps in another process, and without a
 * session. So it is matched by the key, the client and the id of the request.
 *
 * States of a call: open until its result is sent, then released.
 *
 * Failure cases
 * - Another process waits for the call: the name of the call is published to all of them.
 * - The publication is lost: the call runs to its end, and the client ignores the result.
 * - Two clients that look alike use the same id at the same time: neither call is canceled, because a lost answer is worse
 *   than a wasted one.
 */

/** A call of a tool that waits for its result. */
export interface OpenCall {
  /** Aborted when the client cancels the call with a notification. */
  readonly canceled: AbortSignal;
  release(): void;
}

/** The calls that this process waits for. */
export interface OpenCalls {
  /** @throws {CallFailure} UNAVAILABLE beyond the workspace's share */
  acquire(client: ToolClient, requestId: unknown): OpenCall;
  /** Cancels the call, in whatever process waits for it. */
  cancel(client: ToolClient, requestId: unknown): void;
  /** Cancels calls of this process that another one received the notification for. */
  cancelLocal(names: readonly string[]): void;
}

/** What tells the clients of a workspace apart. */
export interface ToolClient {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly address: string;
  readonly userAgent: string;
}

export function createOpenCalls(
  publish: (names: readonly string[]) => void,
  shares: Shares,
): OpenCalls {
  const byName = new Map<string, Set<AbortController>>();

  function cancelLocal(names: readonly string[]): void {
    for (const name of names) {
      const [call, ...others] = byName.get(name) ?? [];
      if (others.length === 0) call?.abort();
    }
  }

  return {
    acquire(client, requestId) {
      const releaseSlot = shares.take(client.workspaceId);
      const name = nameOf(client, requestId);
      const controller = new AbortController();
      byName.set(name, (byName.get(name) ?? new Set()).add(controller));
      return {
        canceled: controller.signal,
        release() {
          releaseSlot();
          const same = byName.get(name);
          same?.delete(controller);
          if (same?.size === 0) byName.delete(name);
        },
      };
    },
    cancel(client, requestId) {
      const name = nameOf(client, requestId);
      if (byName.has(name)) cancelLocal([name]);
      else publish([name]);
    },
    cancelLocal,
  };
}

/** As long as an identifier, because it is sent to other processes in a list of such. */
function nameOf({ keyId, address, userAgent }: ToolClient, requestId: unknown): string {
  const text = JSON.stringify([keyId, address, userAgent, requestId]);
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
