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

/** What tells the clients of a workspace apart. */
export interface ToolClient {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly address: string;
  readonly userAgent: string;
}

/** The calls that this process waits for. */
export class OpenCalls {
  readonly #publish: (names: readonly string[]) => void;
  readonly #shares: Shares;
  readonly #byName = new Map<string, Set<AbortController>>();

  constructor(publish: (names: readonly string[]) => void, shares: Shares) {
    this.#publish = publish;
    this.#shares = shares;
  }

  /** @throws {CallFailure} UNAVAILABLE beyond the workspace's share */
  acquire(client: ToolClient, requestId: unknown): OpenCall {
    const releaseSlot = this.#shares.take(client.workspaceId);
    const name = nameOf(client, requestId);
    const controller = new AbortController();
    this.#byName.set(name, (this.#byName.get(name) ?? new Set()).add(controller));
    return {
      canceled: controller.signal,
      release: () => {
        releaseSlot();
        const same = this.#byName.get(name);
        same?.delete(controller);
        if (same?.size === 0) this.#byName.delete(name);
      },
    };
  }

  /** Cancels the call, in whatever process waits for it. */
  cancel(client: ToolClient, requestId: unknown): void {
    const name = nameOf(client, requestId);
    if (this.#byName.has(name)) this.cancelLocal([name]);
    else this.#publish([name]);
  }

  /** Cancels calls of this process that another one received the notification for. */
  cancelLocal(names: readonly string[]): void {
    for (const name of names) {
      const [call, ...others] = this.#byName.get(name) ?? [];
      if (others.length === 0) call?.abort();
    }
  }
}

/** As long as an identifier, because it is sent to other processes in a list of such. */
function nameOf({ keyId, address, userAgent }: ToolClient, requestId: unknown): string {
  const text = JSON.stringify([keyId, address, userAgent, requestId]);
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
