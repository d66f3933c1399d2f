import { CallFailure } from '../../core/failure.ts';

/** Limits the streaming responses of one kind in this process: each holds memory until its client has read it. */
export interface StreamSlots {
  /** Throws if there is no free slot. */
  acquire(workspaceId: string): StreamSlot;
}

export interface StreamSlot {
  readonly workspaceId: string;
  /** What is streamed. */
  readonly kind: StreamKind;
  /** Aborted, with the error for the client, when another workspace takes over the slot. */
  readonly signal: AbortSignal;
  release(): void;
}

export type StreamKind = 'export' | 'page';

/**
 * While all slots are in use, a workspace without one takes over the oldest slot of a workspace with several: a few slow
 * readers would otherwise lock out all others for as long as a stream may last. The last stream of a workspace is never
 * aborted.
 */
export function createStreamSlots(
  kind: StreamKind,
  { max, ofWorkspaceMax }: { readonly max: number; readonly ofWorkspaceMax: number },
): StreamSlots {
  const inUse = new Map<StreamSlot, AbortController>();
  const countOf = (workspaceId: string) =>
    [...inUse.keys()].filter((one) => one.workspaceId === workspaceId).length;

  /** Takes over a slot if none is free and a workspace with `own` slots may do so. */
  function hasRoom(own: number): boolean {
    if (own >= ofWorkspaceMax) return false;
    if (inUse.size < max) return true;
    const oldest = [...inUse].find(([{ workspaceId }]) => countOf(workspaceId) > 1);
    if (own > 0 || !oldest) return false;
    const [slot, controller] = oldest;
    slot.release();
    controller.abort(tooMany(`This ${kind} was aborted for a workspace that had none.`));
    return true;
  }

  return {
    acquire(workspaceId) {
      if (!hasRoom(countOf(workspaceId))) throw tooMany(messages[kind]);
      const controller = new AbortController();
      const { signal } = controller;
      const slot = { workspaceId, kind, signal, release: () => void inUse.delete(slot) };
      inUse.set(slot, controller);
      return slot;
    },
  };
}

const messages: Readonly<Record<StreamKind, string>> = {
  export: 'Too many exports are running. Try again later.',
  page: 'Too many pages of long records are being read. Request fewer at once, or omit their bodies.',
};

function tooMany(message: string): CallFailure {
  return new CallFailure('UNAVAILABLE', message, { retryAfter: 10 });
}
