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
 * The lifecycle as specified, written by hand: the stage that each action leads to from each stage, `-` if there is
 * no such transition.
 */
const transitions: Record<Stage, Record<Action, Stage | 'archived' | '-'>> = {
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

/** Whether the API is open, by stage. */
const open: Record<Stage, boolean> = { Draft: false, Testing: true, Deployed: true, Paused: false };
const removable: Record<Stage, boolean> = {
  Draft: false,
  Testing: true,
  Deployed: false,
  Paused: true,
};

test('the table has every stage and every action', () => {
  assert.deepEqual([...stages], Object.keys(transitions));
  for (const stage of stages) assert.deepEqual([...actions], Object.keys(transitions[stage]));
});

for (const stage of stages) {
  for (const apiEnabled of open[stage] ? [true, false] : [false]) {
    const at = { stage, archived: false, apiEnabled };
    const title = `${stage}${open[stage] && !apiEnabled ? ' with its API disabled' : ''}`;

    for (const action of actions) {
      const to = transitions[stage][action];
      test(`${title}: ${action} ${to === '-' ? 'is refused' : `leads to ${to}`}`, () => {
        const next = transition(at, action);
        if (to === '-') assert.equal(next, null);
        else if (to === 'archived') assert.deepEqual(next, { ...at, archived: true });
        else assert.deepEqual(next, { stage: to, archived: false, apiEnabled: open[to] });
      });
    }

    test(`${title}: allowed actions, in the order of the table`, () => {
      const possible = actions.filter((action) => transitions[stage][action] !== '-');
      assert.deepEqual(allowedActions(at), possible);
    });

    test(`${title}: calls are ${callable(at) ? 'allowed' : 'rejected'}`, () => {
      assert.equal(callable(at), open[stage] && apiEnabled);
    });
  }

  // A deployed agent cannot be archived; if a row says otherwise, only restore is allowed.
  test(`${stage}, archived: only restore is allowed, back to the same stage`, () => {
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

test('the API is off in Draft and Paused, even if the row enables it', () => {
  for (const stage of ['Draft', 'Paused'] as const) {
    assert.equal(callable({ stage, archived: false, apiEnabled: true }), false);
  }
});
