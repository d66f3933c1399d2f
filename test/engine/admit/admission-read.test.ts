import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateKey, hashKey } from '../../../src/core/people/key.ts';
import type { Send } from '../../../src/db/pipeline.ts';
import {
  type AdmissionLookup,
  readForAdmission,
} from '../../../src/engine/admit/admission-read.ts';
import type { MembershipLookup } from '../../../src/engine/admit/roles.ts';
import { readForStart } from '../../../src/features/workflows/statements/workflow-start.ts';

const id = '00000000-0000-7000-8000-000000000000';
const keyHashes = [hashKey(generateKey())];
const ofSession = [{ workspaceId: id, userId: id }];

async function statementsOf(read: (send: Send) => Promise<unknown>): Promise<string[]> {
  const names: string[] = [];
  const send = async ({ name }: { readonly name: string }) => {
    names.push(name);
    return [];
  };
  await read(send as Send);
  return names;
}

const none = { workspaceIds: [], userIds: [], agentIds: [], firstCalls: [], drafts: [], steps: [] };
const lookup: AdmissionLookup = { ...none, keyHashes, members: [], worker: null, fromTag: 0 };
const ofStarts = { workspaceIds: [], workflowIds: [], firstCalls: [], rerunIds: [] };
const starts = { ...ofStarts, keyHashes, isLimited: false };
const reads: Record<string, (send: Send, members: MembershipLookup) => Promise<unknown>> = {
  calls: (send, members) => readForAdmission(send, { ...lookup, members }),
  'workflow starts': (send, members) => readForStart(send, { ...starts, members }),
};

for (const [what, read] of Object.entries(reads)) {
  test(`${what}: members are read under the locks only if the batch contains sessions`, async () => {
    const ofKeys = await statementsOf((send) => read(send, []));
    assert.ok(!ofKeys.includes('read-roles'));
    const ofBoth = await statementsOf((send) => read(send, ofSession));
    assert.deepEqual(ofBoth, [...ofKeys, 'read-roles']);
  });
}
