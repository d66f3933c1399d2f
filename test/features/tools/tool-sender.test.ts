import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { freshId } from '../../../harness/fresh-id.ts';
import { toReceivers } from '../../../harness/receiver.ts';
import { sealKey, startService } from '../../../harness/service.ts';
import { addToolServer } from '../../../harness/tool-server.ts';
import { fromId } from '../../../src/core/id.ts';
import type { PostedTool, ToolPost } from '../../../src/core/tools/tool-post.ts';
import { readCalledTool } from '../../../src/engine/tools/called-tools.ts';
import { createToolSender } from '../../../src/features/tools/verbs/tool-sender.ts';

const service = await startService({ config: toReceivers });
after(service.close);

test('a call that waited for a slot is sent with the time that is left, or not at all', async () => {
  const url = 'http://127.0.0.1:1/';
  const { toolServerId } = await addToolServer(service, { url, maxConcurrency: 1 });
  const answer: PostedTool = {
    ...{ kind: 'answered', status: 200, retryAfter: null, length: 2, end: 'whole' },
    bytes: Buffer.from('ok'),
  };
  const posts: ToolPost[] = [];
  const arrived = Promise.withResolvers<void>();
  const first = Promise.withResolvers<PostedTool>();
  const sender = createToolSender({
    ...{ sealKey, version: '1', hideSecrets: (text) => text },
    post(post) {
      posts.push(post);
      arrived.resolve();
      return posts.length === 1 ? first.promise : Promise.resolve(answer);
    },
  });
  const called = await readCalledTool(service.db, {
    ...{ workspaceId: service.workspaceId, tool: 'refund' },
    server: fromId('toolServer', toolServerId) ?? '',
  });
  const call = (timeoutMs: number) =>
    sender.call({
      ...{ toolCallId: 'tcl_00000000000000000000000000', executionId: freshId(), tool: 'refund' },
      ...{ called, argumentsJson: '{}', timeoutMs, resultLimit: 1_024 },
      signal: new AbortController().signal,
    });
  const held = call(60_000);
  await arrived.promise;
  const busy = await call(2);
  assert.deepEqual([busy.kind, posts.length], ['refused', 1]);
  const waiting = call(60_000);
  assert.equal((await call(2)).kind, 'refused');
  first.resolve(answer);
  assert.equal((await held).kind, 'done');
  assert.equal((await waiting).kind, 'done');
  const { timeoutMs = 0 } = posts[1] ?? {};
  assert.ok(timeoutMs < 60_000 && timeoutMs >= 1, `${timeoutMs}`);
});
