import type { Agent, LifecycleAction } from '../../../src/client/index.ts';

interface Words {
  /** On the button. */
  readonly verb: string;
  readonly question: string;
  /** What will happen, said before it does. */
  readonly consequence: string;
  /** Calls that work now will fail. */
  readonly stopsCalls?: true;
}

export const actionWords: Record<LifecycleAction, Words> = {
  'enable-api': {
    verb: 'Enable the API',
    question: 'Enable the API of this agent?',
    consequence:
      'It goes from Draft to Testing. Programs with a key for it can execute it at once, within the tighter limits of the Testing stage.',
  },
  deploy: {
    verb: 'Deploy',
    question: 'Deploy this agent?',
    consequence:
      'It goes from Testing to Deployed. From the next call on, only its own limits and those of its keys hold, without the caps of the Testing stage.',
  },
  rollback: {
    verb: 'Back to Testing',
    question: 'Take this agent back to Testing?',
    consequence:
      'It goes on taking calls, but within the tighter limits of the Testing stage: callers that are over them are answered 429. The pinned version stays.',
    stopsCalls: true,
  },
  disable: {
    verb: 'Disable',
    question: 'Disable this agent?',
    consequence:
      'It goes from Deployed to Paused. From the next call on every program is answered 403. Runs under way end as usual, keys stay, and it can be enabled again.',
    stopsCalls: true,
  },
  're-enable': {
    verb: 'Enable again',
    question: 'Enable this agent again?',
    consequence:
      'It goes from Paused to Deployed. Programs with a key for it can execute it at once.',
  },
  archive: {
    verb: 'Archive',
    question: 'Archive this agent?',
    consequence:
      'It disappears from the list, and nobody can execute it, here neither. Its records stay, and it can be restored.',
    stopsCalls: true,
  },
  restore: {
    verb: 'Restore',
    question: 'Restore this agent?',
    consequence: 'It comes back into the list, in the stage it had, with its API off.',
  },
};

/** The stages in order, and what leads from each to the next and back. */
export const stagePath: readonly {
  readonly stage: Agent['status'];
  readonly meaning: string;
  readonly onward?: LifecycleAction;
  readonly back?: LifecycleAction;
}[] = [
  { stage: 'Draft', meaning: 'API off', onward: 'enable-api' },
  { stage: 'Testing', meaning: 'API on, limited', onward: 'deploy', back: 'rollback' },
  { stage: 'Deployed', meaning: 'API on', onward: 'disable', back: 're-enable' },
  { stage: 'Paused', meaning: 'API off' },
];
