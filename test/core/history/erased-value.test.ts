import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  labelsHave,
  namesValue,
  searchNamesValue,
} from '../../../src/core/history/erased-value.ts';

const none = { variable: null, label: null, labelName: null };

test('labels have a user, a tag or a value of the metadata by its name', () => {
  const labels = {
    user: 'ada',
    session: 's',
    tags: ['vip'],
    metadata: '{"__proto__":"x","plan":"pro"}',
  };
  assert.ok(labelsHave(labels, { ...none, value: 'ada' }));
  assert.ok(!labelsHave(labels, { ...none, value: 'vip' }));
  assert.ok(labelsHave(labels, { ...none, label: 'tag', value: 'vip' }));
  assert.ok(!labelsHave(labels, { ...none, label: 'tag', value: 'vi' }));
  assert.ok(labelsHave(labels, { ...none, label: 'metadata', labelName: 'plan', value: 'pro' }));
  assert.ok(labelsHave(labels, { ...none, label: 'metadata', labelName: '__proto__', value: 'x' }));
  assert.ok(!labelsHave(labels, { ...none, label: 'metadata', labelName: 'other', value: 'pro' }));
  assert.ok(!labelsHave(labels, { ...none, variable: 'user', value: 'ada' }));
  assert.ok(!labelsHave(null, { ...none, value: 'ada' }));
});

test('a text names a value if it contains it as a word of its own', () => {
  for (const text of ['ada', 'order-ada', 'ada@example.com', 'Calls of ada, failed', 'adam ada']) {
    assert.ok(namesValue(text, 'ada'), text);
  }
  for (const text of ['nevada', 'adam', 'ada7', '', 'Ada'])
    assert.ok(!namesValue(text, 'ada'), text);
  assert.ok(namesValue('order (a.b)', '(a.b)'));
  assert.ok(!namesValue('anything', ''));
  assert.ok(!namesValue('𐐀ada', 'ada'), 'a letter of two units');
  assert.ok(!namesValue('ada𐐀', 'ada'), 'a letter of two units');
  assert.ok(namesValue('😀ada😀', 'ada'));
});

test('a view names a value by a filter that callers choose, or by the words it searches for', () => {
  for (const search of [
    'user=ada',
    'user=bob%2Cada',
    'session=ada&status=failed',
    'tag=ada',
    'variables.customer=ada',
    'metadata.a.b=ada',
    'q=refund+for+ada',
  ]) {
    assert.ok(searchNamesValue(search, 'ada'), search);
  }
  for (const search of [
    '',
    'user=adam',
    'status=ada',
    'model=ada',
    'variables.ada=x',
    'q=nevada',
  ]) {
    assert.ok(!searchNamesValue(search, 'ada'), search);
  }
  assert.ok(searchNamesValue('user=a%5C%2Cb', 'a,b'));
  assert.ok(!searchNamesValue('user=&q=', ''));
});
