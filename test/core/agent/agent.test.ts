import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Action,
  actions,
  allowedActions,
  callable,
  deletable,
  type Stage,
  stages,
  transition,
} from '../../../src/core/agent/agent.ts';

/**
 * The lifecycle as the specification and the contract draw it, written down by hand: for each stage what each action
 * leads to, `-` where there is no such transition.
 */
const drawn: Record<Stage, Record<Action, Stage | 'archived' | '-'>> = {
  Draft: {
    'enable-api': 'Testing',
    deploy: '-',
    rollback: '-',
    disable: '-',
    're-enable': '-',
    archive: 'archived',
    restore: '-',
  },
  Testing: {
    'enable-api': '-',
    deploy: 'Deployed',
    rollback: '-',
    disable: '-',
    're-enable': '-',
    archive: 'archived',
    restore: '-',
  },
  Deployed: {
    'enable-api': '-',
    deploy: '-',
    rollback: 'Testing',
    disable: 'Paused',
    're-enable': '-',
    archive: '-',
    restore: '-',
  },
  Paused: {
    'enable-api': '-',
    deploy: '-',
    rollback: '-',
    disable: '-',
    're-enable': 'Deployed',
    archive: 'archived',
    restore: '-',
  },
};

/** API access by stage. */
const open: Record<Stage, boolean> = { Draft: false, Testing: true, Deployed: true, Paused: false };
const removable: Record<Stage, boolean> = {
  Draft: false,
  Testing: true,
  Deployed: false,
  Paused: true,
};

test('the table has every stage and every action', () => {
  assert.deepEqual([...stages], Object.keys(drawn));
  for (const stage of stages) assert.deepEqual([...actions], Object.keys(drawn[stage]));
});

for (const stage of stages) {
  for (const apiEnabled of open[stage] ? [true, false] : [false]) {
    const at = { stage, archived: false, apiEnabled };
    const named = `${stage}${open[stage] && !apiEnabled ? ' with its API switched off' : ''}`;

    for (const action of actions) {
      const to = drawn[stage][action];
      test(`${named}: ${action} ${to === '-' ? 'is refused' : `leads to ${to}`}`, () => {
        const next = transition(at, action);
        if (to === '-') assert.equal(next, null);
        else if (to === 'archived') assert.deepEqual(next, { ...at, archived: true });
        else assert.deepEqual(next, { stage: to, archived: false, apiEnabled: open[to] });
      });
    }

    test(`${named}: what is allowed, in the order of the table`, () => {
      const possible = actions.filter((action) => drawn[stage][action] !== '-');
      assert.deepEqual(allowedActions(at), possible);
    });

    test(`${named}: calls ${callable(at) ? 'are' : 'are not'} let in`, () => {
      assert.equal(callable(at), open[stage] && apiEnabled);
    });
  }

  // A deployed agent cannot be archived, but were one, nothing but its return would be possible.
  test(`${stage}, archived: only its return is possible, to where it was`, () => {
    const at = { stage, archived: true, apiEnabled: open[stage] };
    for (const action of actions) {
      const next = transition(at, action);
      assert.deepEqual(next, action === 'restore' ? { ...at, archived: false } : null, action);
    }
    assert.deepEqual(allowedActions(at), ['restore']);
    assert.equal(callable(at), false);
  });

  test(`${stage} ${removable[stage] ? 'can' : 'cannot'} be deleted`, () => {
    for (const archived of [false, true]) {
      assert.equal(deletable({ stage, archived, apiEnabled: false }), removable[stage]);
    }
  });
}

test('the API is off in Draft and Paused even where a row said otherwise', () => {
  for (const stage of ['Draft', 'Paused'] as const) {
    assert.equal(callable({ stage, archived: false, apiEnabled: true }), false);
  }
});
