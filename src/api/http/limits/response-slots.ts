import { CallFailure } from '../../../core/failure.ts';
import type { Reader } from '../../../core/history/read-slots.ts';

/** Limits the streaming responses of one kind in this process: each holds memory until its client has read it. */
export interface ResponseSlots {
  /** Throws if there is no free slot. */
  acquire(reader: Reader): ResponseSlot;
}

export interface ResponseSlot {
  readonly reader: Reader;
  /** What is streamed. */
  readonly kind: StreamKind;
  /** Aborted, with the error for the client, when another workspace takes over the slot. */
  readonly signal: AbortSignal;
  release(): void;
}

export type StreamKind = 'export' | 'page' | 'results';

interface StreamLimits {
  readonly max: number;
  readonly ofWorkspaceMax: number;
  readonly ofCallerMax: number;
}

/**
 * While all slots are in use, a workspace without one takes over the oldest slot of a workspace with several: a few slow
 * readers would otherwise lock out all others for as long as a stream may last. The last stream of a workspace is never
 * aborted.
 */
export function createResponseSlots(
  kind: StreamKind,
  { max, ofWorkspaceMax, ofCallerMax }: StreamLimits,
): ResponseSlots {
  const inUse = new Map<ResponseSlot, AbortController>();
  const countOf = (name: keyof Reader, { [name]: id }: Reader) =>
    [...inUse.keys()].filter(({ reader }) => reader[name] === id).length;

  /** Takes over a slot if none is free and the workspace of the reader may do so. */
  function hasRoom(reader: Reader): boolean {
    const own = countOf('workspaceId', reader);
    if (own >= ofWorkspaceMax || countOf('id', reader) >= ofCallerMax) return false;
    if (inUse.size < max) return true;
    const oldest = [...inUse].find(([slot]) => countOf('workspaceId', slot.reader) > 1);
    if (own > 0 || !oldest) return false;
    const [slot, controller] = oldest;
    slot.release();
    controller.abort(
      tooMany(`This ${kind} was aborted to free a slot for another workspace. Try again.`),
    );
    return true;
  }

  return {
    acquire({ id, workspaceId }) {
      const reader = { id, workspaceId };
      if (!hasRoom(reader)) throw tooMany(messages[kind]);
      const controller = new AbortController();
      const { signal } = controller;
      const slot = { reader, kind, signal, release: () => void inUse.delete(slot) };
      inUse.set(slot, controller);
      return slot;
    },
  };
}

const messages: Readonly<Record<StreamKind, string>> = {
  export: 'Too many exports are running. Try again later.',
  results: 'Too many results are being read. Try again later.',
  page: 'Too many pages of long records are being read. Request fewer at once, or omit their bodies.',
};

function tooMany(message: string): CallFailure {
  return new CallFailure('UNAVAILABLE', message, { retryAfter: 10 });
}
