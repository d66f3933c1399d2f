import type { Agent } from '../../../src/client/index.ts';
import { moveAgent } from '../../data/agents/agent-actions.ts';
import { ConfirmDialog } from '../../kit/confirm-dialog.tsx';

export function ResumeDialog(props: { readonly agent: Pick<Agent, 'agentId' | 'agentName'> }) {
  const { agentId, agentName } = props.agent;
  return (
    <ConfirmDialog
      title={`Resume ${agentName}?`}
      confirm="Resume"
      destructive={false}
      action={moveAgent(agentId, 're-enable')}
    >
      Moves the agent from Paused to Deployed. Programs with a key can call it immediately.
    </ConfirmDialog>
  );
}
