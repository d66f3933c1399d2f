import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batchBytesMax } from '../../../src/core/batch/batch.ts';
import { replayUpload } from '../../../src/features/batches/verbs/upload-batch.ts';

test('a file above the limit is another file than that of the idempotency key', async () => {
  const chunk = Buffer.alloc(1_048_576, '\n');
  async function* file() {
    for (let bytes = 0; bytes <= batchBytesMax; bytes += chunk.length) yield chunk;
  }
  const earlier = { id: 'first', digest: Buffer.alloc(32) };
  await assert.rejects(replayUpload(file(), earlier as never), { code: 'IDEMPOTENCY_KEY_REUSED' });
});
