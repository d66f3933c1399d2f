import { pipeline, Readable, type Transform } from 'node:stream';
import { promisify } from 'node:util';
import zlib, { type BrotliOptions, type ZlibOptions, type ZstdOptions } from 'node:zlib';
import { OutboundFailure } from './outbound-failure.ts';
import { responseBytesMax } from './response-limits.ts';

/**
 * Decompresses response bodies, whatever was requested. A body that does not begin like its encoding is taken as it is:
 * proxies decompress and leave the header, and servers name character sets there (`UTF-8`).
 */

type Bytes = Uint8Array<ArrayBuffer>;
type Decoder = (bytes: Bytes, options: ZlibOptions & BrotliOptions & ZstdOptions) => Promise<Bytes>;

const gunzip = promisify(zlib.gunzip) as Decoder;
const inflate = promisify(zlib.inflate) as Decoder;
const inflateRaw = promisify(zlib.inflateRaw) as Decoder;
const brotli = promisify(zlib.brotliDecompress) as Decoder;
const zstd = promisify(zlib.zstdDecompress) as Decoder;

/** @throws an `OutboundFailure` if the body is corrupt, or larger than `responseBytesMax` */
export async function decompress(bytes: Bytes, encoding: string): Promise<Bytes> {
  let decoded = bytes;
  for (const name of encodings(encoding)) {
    const decoder = decoderFor(name, decoded);
    if (!decoder) continue;
    const encoded = decoded;
    decoded = await decoder(encoded, { maxOutputLength: responseBytesMax }).catch((error) => {
      if (error.code === 'ERR_BUFFER_TOO_LARGE') throw refused(tooLarge);
      if (isText(encoded)) return encoded;
      throw refused(
        `The provider's response is not valid ${name === unnamed ? 'gzip or zstd' : name}.`,
      );
    });
  }
  return decoded;
}

/** The same for a body that arrives in pieces. Corrupt data throws an error of zlib. */
export function decompressPieces(
  pieces: AsyncIterable<Uint8Array>,
  encoding: string,
): AsyncIterable<Uint8Array> {
  return encodings(encoding)
    .filter((name) => compressions.has(name))
    .reduce(decodePieces, pieces);
}

/** In place of a header that names no compression: the body's first bytes decide. */
const unnamed = 'unnamed';
const compressions: ReadonlySet<string> = new Set([
  ...['gzip', 'x-gzip', 'deflate', 'br', 'zstd'],
  unnamed,
]);

/** The encoding of a whole response of a model. Proxies compress without saying so, and no text begins like compressed data. */
export function responseEncoding(header: string | null): string {
  const named = encodings(header ?? '').some((name) => compressions.has(name));
  return header && named ? header : unnamed;
}

async function* decodePieces(
  pieces: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const source = pieces[Symbol.asyncIterator]();
  let beginning: Bytes = new Uint8Array();
  while (beginning.length < beginningBytes) {
    const { done, value } = await source.next();
    if (done) break;
    beginning = new Uint8Array(Buffer.concat([beginning, value]));
  }
  if (beginning.length === 0) return;
  async function* all() {
    yield beginning;
    yield* { [Symbol.asyncIterator]: () => source };
  }
  const decoder = isPlain(beginning) ? null : decoderFor(name, beginning);
  const stream = streams.find(([each]) => each === decoder)?.[1]();
  // A reader that leaves destroys it with an error that nothing else listens to.
  stream?.on('error', () => {});
  // Not `compose`, whose reader would wait for ever once compressed data ends too early.
  yield* stream ? pipeline(Readable.from(all()), stream, () => {}) : all();
}

/** Enough to tell a text from compressed data, and no longer than `data: [DONE]`. */
const beginningBytes = 12;

const streams: readonly [Decoder, () => Transform][] = [
  [gunzip, zlib.createGunzip],
  [inflate, zlib.createInflate],
  [inflateRaw, zlib.createInflateRaw],
  [brotli, zlib.createBrotliDecompress],
  [zstd, zlib.createZstdDecompress],
];

/** As much as can be read of a body that may be cut off; empty if nothing can. */
export async function decompressBeginning(bytes: Bytes, encoding: string): Promise<Bytes> {
  let decoded = bytes;
  for (const name of encodings(encoding)) {
    const decoder = decoderFor(name, decoded);
    if (!decoder) continue;
    const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH, ZSTD_e_flush } = zlib.constants;
    const finishFlush =
      decoder === brotli ? BROTLI_OPERATION_FLUSH : decoder === zstd ? ZSTD_e_flush : Z_SYNC_FLUSH;
    const options = { maxOutputLength: responseBytesMax, finishFlush };
    decoded = await decoder(decoded, options).catch(() => new Uint8Array());
  }
  return decoded;
}

/** The last one was applied last. */
function encodings(header: string): string[] {
  return header
    .split(',', encodingsMax)
    .map((name) => name.trim().toLowerCase())
    .reverse();
}

const encodingsMax = 3;

/** `null` if the body is not compressed that way. */
function decoderFor(name: string, bytes: Bytes): Decoder | null {
  const [first = 0, second = 0] = bytes;
  switch (name) {
    case 'gzip':
    case 'x-gzip':
      return first === 0x1f && second === 0x8b ? gunzip : null;
    case 'deflate':
      // Some servers leave out the header of zlib.
      return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0 ? inflate : inflateRaw;
    case 'br':
      // `{` would be an empty stream with data behind it.
      return first === 0x7b ? null : brotli;
    case 'zstd':
      return first === 0x28 && second === 0xb5 ? zstd : null;
    case unnamed:
      return decoderFor('gzip', bytes) ?? decoderFor('zstd', bytes);
    default:
      return null;
  }
}

/** Whether a body begins like JSON or an event stream. A compressed one may as well. */
function isText([first = 0]: Bytes): boolean {
  return '{[ \r\n:deir'.includes(String.fromCharCode(first));
}

/** The same for a body of which no more has arrived. Compressed data is not ASCII for long. */
function isPlain(beginning: Bytes): boolean {
  return isText(beginning) && /^[\t\r\n -~]*$/.test(Buffer.from(beginning).toString('latin1'));
}

const tooLarge = `The provider's response has more than ${responseBytesMax} bytes.`;

function refused(message: string): OutboundFailure {
  return new OutboundFailure('malformed', message);
}
