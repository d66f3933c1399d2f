import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterSaving, blankDraft, worthKeeping } from '../../dashboard/pages/prompt/draft.ts';

const begun = { ...blankDraft, baseId: 'ver_1', user: 'Hello' };
const sent = { ...begun, user: 'Hello you', label: 'polite', notes: 'You.' };

test('a draft that says what its version says is not kept', () => {
  assert.equal(worthKeeping(begun, begun), null);
  assert.equal(worthKeeping({ ...begun, user: 'Hell' }, begun)?.user, 'Hell');
  assert.equal(worthKeeping({ ...begun, label: 'b' }, begun)?.label, 'b');
});

test('what was saved is a draft no more', () => {
  assert.equal(afterSaving(sent, sent, 'ver_2'), null);
  assert.equal(afterSaving(null, sent, 'ver_2'), null);
});

test('what was typed while it was saved stays, and goes on from the new version', () => {
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
