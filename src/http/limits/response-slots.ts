import type { Shares } from '../../core/shares.ts';

/** A slot of a response that is streamed for long: it holds memory, and perhaps a connection, until its client has read it. */
export interface ResponseSlot {
  readonly workspaceId: string;
  /** Aborted, with the error for the client, when another workspace takes over the slot. */
  readonly signal: AbortSignal;
  release(): void;
}

/** Throws if no slot is free for the workspace. */
export function takeResponseSlot(shares: Shares, workspaceId: string): ResponseSlot {
  const controller = new AbortController();
  const release = shares.takeRevocable(workspaceId, (failure) => controller.abort(failure));
  return { workspaceId, signal: controller.signal, release };
}
