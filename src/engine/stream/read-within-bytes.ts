import { type ByteShares, bytesOf, type FreeBytes } from '../../core/byte-shares.ts';

/** What a reader holds until its client has it. */
export interface CountedValue<T> {
  readonly value: T;
  readonly free: FreeBytes;
}

/** Who reads, and until when. */
export interface StreamReading {
  readonly bytes: ByteShares;
  readonly workspaceId: string;
  readonly signal: AbortSignal;
}

/**
 * Reads what is held until its client has it. If there is no room, what was read is dropped, and read again once there is:
 * its length is known only then. Null if the signal aborts first, or the process shuts down.
 */
export async function readWithinBytes<T extends object | null>(
  reading: StreamReading,
  read: () => Promise<T>,
): Promise<CountedValue<T> | null> {
  const { bytes, workspaceId, signal } = reading;
  for (let room: Room = noRoom; ; ) {
    const found = await readOnce(reading, read, room);
    if ('value' in found) return found;
    const free = await bytes.hold(workspaceId, found.size, signal);
    if (!free) return null;
    room = { size: found.size, free };
  }
}

interface Room {
  readonly size: number;
  readonly free: FreeBytes;
}

const noRoom: Room = { size: 0, free: () => {} };

/** The size of what was read if there is no room for it. A function of its own: while the caller waits, nothing is held. */
async function readOnce<T extends object | null>(
  { bytes, workspaceId }: StreamReading,
  read: () => Promise<T>,
  room: Room,
): Promise<CountedValue<T> | { readonly size: number }> {
  let free: FreeBytes | null = room.free;
  try {
    const value = await read();
    if (value === null) return { value, free };
    const size = bytesOf(value);
    if (size <= room.size) {
      const shared = bytes.share(value, room.free);
      free = null;
      return { value, free: shared };
    }
    room.free();
    const counted = bytes.tryHold(workspaceId, size, value);
    return counted ? { value, free: counted } : { size };
  } finally {
    free?.();
  }
}
