import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blankDraft, draftAfterSave, draftToStore } from '../../dashboard/pages/prompt/draft.ts';

const initial = { ...blankDraft, baseId: 'ver_1', user: 'Hello' };
const sent = { ...initial, user: 'Hello you', label: 'polite', notes: 'You.' };

test('a draft equal to its version is not stored', () => {
  assert.equal(draftToStore(initial, initial), null);
  assert.equal(draftToStore({ ...initial, user: 'Hell' }, initial)?.user, 'Hell');
  assert.equal(draftToStore({ ...initial, label: 'b' }, initial)?.label, 'b');
});

test('saving clears the draft', () => {
  assert.equal(draftAfterSave(sent, sent, 'ver_2'), null);
  assert.equal(draftAfterSave(null, sent, 'ver_2'), null);
});

test('edits made during a save stay, based on the new version', () => {
  const now = { ...sent, user: 'Hello you two' };
  const rest = { ...now, baseId: 'ver_2', label: '', notes: '' };
  assert.deepEqual(draftAfterSave(now, sent, 'ver_2'), rest);
  const renamed = { ...sent, label: 'next' };
  assert.deepEqual(draftAfterSave(renamed, sent, 'ver_2'), {
    ...renamed,
    baseId: 'ver_2',
    notes: '',
  });
});
