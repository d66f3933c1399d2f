import type { Agent } from '../../../src/client/index.ts';
import { useMoveAgent } from '../../data/agents/agents.ts';
import { ConfirmDialog } from './confirm-dialog.tsx';

export function ResumeDialog(props: {
  readonly agent: Pick<Agent, 'agentId' | 'agentName'>;
  readonly onClose: () => void;
}) {
  const { agent, onClose } = props;
  const move = useMoveAgent(agent.agentId);
  return (
    <ConfirmDialog
      opened
      title={`Resume ${agent.agentName}?`}
      confirmLabel="Resume"
      mutation={move}
      onClose={onClose}
      onConfirm={() => move.mutate('re-enable', { onSuccess: onClose })}
    >
      Moves the agent from Paused to Deployed. Programs with a key can call it immediately.
    </ConfirmDialog>
  );
}
