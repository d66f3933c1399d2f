import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateKey, hashKey } from '../../../src/core/people/key.ts';
import {
  type AdmissionLookup,
  readForAdmission,
} from '../../../src/store/admission/admission-read.ts';
import type { Send, Statement } from '../../../src/store/connection/pipeline.ts';
import type { MembershipLookup } from '../../../src/store/people/members.ts';
import { readForStart } from '../../../src/store/workflow/workflow-start.ts';

const id = '00000000-0000-7000-8000-000000000000';
const keyHashes = [hashKey(generateKey())];
const ofSession = [{ workspaceId: id, userId: id }];

async function sentFor(ask: (send: Send) => Promise<unknown>): Promise<string[]> {
  const names: string[] = [];
  const send = async ({ name }: Statement) => {
    names.push(name);
    return [];
  };
  await ask(send as Send);
  return names;
}

const none = { workspaceIds: [], userIds: [], agentIds: [], firstCalls: [], steps: [] };
const asked: AdmissionLookup = { ...none, keyHashes, members: [], worker: null, fromTag: 0 };
const starts = { keyHashes, workspaceIds: [], workflowIds: [], firstWorkflowRuns: [] };
const reads: Record<string, (send: Send, members: MembershipLookup) => Promise<unknown>> = {
  calls: (send, members) => readForAdmission(send, { ...asked, members }),
  'starts of workflows': (send, members) => readForStart(send, { ...starts, members }),
};

for (const [what, read] of Object.entries(reads)) {
  test(`${what}: members are asked for under the locks where there are sessions, and else not`, async () => {
    const ofKeys = await sentFor((send) => read(send, []));
    assert.ok(!ofKeys.includes('read-roles'));
    const ofBoth = await sentFor((send) => read(send, ofSession));
    assert.deepEqual(ofBoth, [...ofKeys, 'read-roles']);
  });
}
