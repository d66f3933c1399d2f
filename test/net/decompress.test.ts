import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { decompressPieces } from '../../src/net/decompress.ts';

async function* piecesOf(bytes: Buffer, cuts: readonly number[]) {
  for (const [index, at] of [0, ...cuts].entries()) yield bytes.subarray(at, cuts[index]);
}

describe('a body in pieces is decompressed whatever was requested', () => {
  const encodings: [name: string, encode: (text: string) => Buffer][] = [
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
    ['gzip, br', (text) => brotliCompressSync(gzipSync(text))],
    ['deflate, gzip, zstd', (text) => zstdCompressSync(gzipSync(deflateSync(text)))],
    ['UTF-8', Buffer.from],
    ['gzip', Buffer.from],
    ['br', Buffer.from],
    ['deflate', Buffer.from],
    ['zstd', Buffer.from],
    ['', Buffer.from],
  ];
  const texts = [
    'data: {"a":1}\n\n',
    'event: x\r\ndata: {"a":1}\r\n\r\n',
    ': ping\n\n',
    '{"a":1}\n',
    // Compressed with Brotli, it begins with `[`.
    `data: {"a":"${Array.from({ length: 40_000 }, (_, index) => index).join()}"}\n\n`,
    '',
  ];
  for (const [index, [name, encode]] of encodings.entries()) {
    test(`'${name}' (${index})`, async () => {
      for (const text of texts) {
        const bytes = encode(text);
        const all = Array.from({ length: Math.min(bytes.length, 30) }, (_, at) => at + 1);
        for (const cuts of [[], [1], all]) {
          const decoded = await Array.fromAsync(decompressPieces(piecesOf(bytes, cuts), name));
          assert.equal(Buffer.concat(decoded).toString(), text);
        }
      }
    });
  }

  test('nothing at all', async () => {
    for (const [name] of encodings) {
      const nothing = decompressPieces(piecesOf(Buffer.alloc(0), []), name);
      assert.equal(Buffer.concat(await Array.fromAsync(nothing)).length, 0);
    }
  });
});

test('compressed data that ends too early is an error', async () => {
  for (const [name, whole] of Object.entries({
    gzip: gzipSync('{"a":1}'),
    br: brotliCompressSync('{"a":1}'),
  })) {
    const cut = whole.subarray(0, -5);
    await assert.rejects(
      Array.fromAsync(decompressPieces(piecesOf(cut, []), name)),
      /unexpected end/,
    );
  }
});
