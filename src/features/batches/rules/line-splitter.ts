/**
 * Splits a stream of bytes into lines. Memory is bounded: of a line that is longer than `bytesMax`, only its number is kept.
 */

/** A line that is neither blank nor only a byte order mark. */
export interface SplitLine {
  /** From 1; blank lines count. */
  readonly number: number;
  /** Without its line feed; null if it is too long. */
  readonly bytes: Buffer | null;
}

export interface LineSplitter {
  /** The lines that end in this chunk. */
  add(chunk: Buffer): Iterable<SplitLine>;
  /** The last line, if it has no line feed. */
  end(): SplitLine[];
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const byteOrderMark = Buffer.from('\ufeff');

export function lineSplitter(bytesMax: number): LineSplitter {
  // One byte more for a carriage return.
  const bufferMax = bytesMax + 1;
  let number = 1;
  let buffer: Buffer = Buffer.alloc(0);
  let length = 0;

  /** In one growing buffer: a list of one-byte chunks would take about 200 times their size. */
  function append(bytes: Buffer): void {
    const newLength = length + bytes.length;
    if (newLength <= bufferMax) {
      if (newLength > buffer.length) {
        const larger = Buffer.allocUnsafeSlow(Math.min(2 * newLength, bufferMax));
        buffer.copy(larger, 0, 0, length);
        buffer = larger;
      }
      bytes.copy(buffer, length);
    }
    length = newLength;
  }

  function take(): SplitLine[] {
    const isLong =
      length > bufferMax || (length === bufferMax && buffer[length - 1] !== carriageReturn);
    const bytes = isLong ? null : Buffer.from(buffer.subarray(0, length));
    const line = { number, bytes };
    number++;
    length = 0;
    return bytes === null || !isBlank(bytes) ? [line] : [];
  }

  return {
    *add(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, from)) {
        append(chunk.subarray(from, at));
        yield* take();
        from = at + 1;
      }
      append(chunk.subarray(from));
    },
    end: take,
  };
}

function isBlank(bytes: Buffer): boolean {
  const text = bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark)
    ? bytes.subarray(byteOrderMark.length)
    : bytes;
  return text.every((byte) => byte === 0x20 || byte === 0x09 || byte === carriageReturn);
}
