import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterSaving, blankDraft, worthKeeping } from '../../dashboard/pages/prompt/draft.ts';

const begun = { ...blankDraft, baseId: 'ver_1', user: 'Hello' };
const sent = { ...begun, user: 'Hello you', label: 'polite', notes: 'You.' };

test('a draft equal to its version is not stored', () => {
  assert.equal(worthKeeping(begun, begun), null);
  assert.equal(worthKeeping({ ...begun, user: 'Hell' }, begun)?.user, 'Hell');
  assert.equal(worthKeeping({ ...begun, label: 'b' }, begun)?.label, 'b');
});

test('saving clears the draft', () => {
  assert.equal(afterSaving(sent, sent, 'ver_2'), null);
  assert.equal(afterSaving(null, sent, 'ver_2'), null);
});

test('edits made during a save stay, based on the new version', () => {
  const now = { ...sent, user: 'Hello you two' };
  const rest = { ...now, baseId: 'ver_2', label: '', notes: '' };
  assert.deepEqual(afterSaving(now, sent, 'ver_2'), rest);
  const renamed = { ...sent, label: 'next' };
  assert.deepEqual(afterSaving(renamed, sent, 'ver_2'), {
    ...renamed,
    baseId: 'ver_2',
    notes: '',
  });
});
