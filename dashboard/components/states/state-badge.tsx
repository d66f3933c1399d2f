import type { Agent } from '../../../src/client/index.ts';
import classes from './state-badge.module.css';

/** `running` moves; `plain` has no colour, for states that are neither good nor bad. */
type Tone = 'good' | 'bad' | 'warn' | 'calm' | 'running' | 'plain';

const stageTones: Record<Agent['status'], Tone> = {
  Draft: 'plain',
  Testing: 'plain',
  Deployed: 'good',
  Paused: 'warn',
};

export function StageBadge({ agent }: { readonly agent: Pick<Agent, 'status' | 'archived'> }) {
  if (agent.archived) return <StateBadge tone="calm" text={`${agent.status}, archived`} />;
  return <StateBadge tone={stageTones[agent.status]} text={agent.status} />;
}

/** A state as a word; the colour only repeats it. */
export function StateBadge({ tone, text }: { readonly tone: Tone; readonly text: string }) {
  return (
    <span className={classes.badge} data-tone={tone}>
      {text}
    </span>
  );
}

export function EnabledBadge({ enabled }: { readonly enabled: boolean }) {
  return <StateBadge tone={enabled ? 'good' : 'calm'} text={enabled ? 'Enabled' : 'Disabled'} />;
}
