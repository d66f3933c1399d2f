import type { Agent, LifecycleAction } from '../../../../src/client/index.ts';

interface ActionTexts {
  /** The button label. */
  readonly verb: string;
  readonly question: string;
  /** Shown before confirmation. */
  readonly consequence: string;
  /** Set if calls that succeed now will fail. */
  readonly stopsCalls?: true;
}

export const actionTexts: Record<LifecycleAction, ActionTexts> = {
  'enable-api': {
    verb: 'Enable API',
    question: 'Enable the API of this agent?',
    consequence:
      'Moves the agent from Draft to Testing. Programs with a key can call it immediately, within the lower limits of the Testing stage.',
  },
  deploy: {
    verb: 'Deploy',
    question: 'Deploy this agent?',
    consequence:
      'Moves the agent from Testing to Deployed. The limits of the Testing stage no longer apply, only those of the agent and its keys.',
  },
  rollback: {
    verb: 'Move to Testing',
    question: 'Move this agent to Testing?',
    consequence:
      'The agent still accepts calls, within the lower limits of the Testing stage: calls above them fail with 429. The pinned version stays.',
    stopsCalls: true,
  },
  disable: {
    verb: 'Pause',
    question: 'Pause this agent?',
    consequence:
      'Moves the agent from Deployed to Paused. New calls fail with 403, keys stay, and you can resume the agent.',
    stopsCalls: true,
  },
  're-enable': {
    verb: 'Resume',
    question: 'Resume this agent?',
    consequence:
      'Moves the agent from Paused to Deployed. Programs with a key can call it immediately.',
  },
  archive: {
    verb: 'Archive',
    question: 'Archive this agent?',
    consequence:
      'Hides the agent from the list. Nobody can execute it, not even in the dashboard. Its records stay, and you can restore it.',
    stopsCalls: true,
  },
  restore: {
    verb: 'Restore',
    question: 'Restore this agent?',
    consequence: 'Shows the agent in the list again, in its previous stage, with its API disabled.',
  },
};

/** The stages in order, with the actions that lead to the next stage and back. */
export const stagePath: readonly {
  readonly stage: Agent['status'];
  readonly meaning: string;
  readonly onward?: LifecycleAction;
  readonly back?: LifecycleAction;
}[] = [
  { stage: 'Draft', meaning: 'API disabled', onward: 'enable-api' },
  { stage: 'Testing', meaning: 'API enabled, limited', onward: 'deploy', back: 'rollback' },
  { stage: 'Deployed', meaning: 'API enabled', onward: 'disable', back: 're-enable' },
  { stage: 'Paused', meaning: 'API disabled' },
];
