import { Checkbox, Stack } from '@mantine/core';
import { useState } from 'react';
import type { Agent } from '../../../src/client/index.ts';
import { usePauseAgent } from '../../data/agents/agents.ts';
import { ConfirmDialog } from './confirm-dialog.tsx';

/** Pauses an agent, from its page, its row and the command palette. */
export function PauseDialog(props: {
  readonly agent: Pick<Agent, 'agentId' | 'agentName'>;
  /** Whether the checkbox is checked at first. */
  readonly cancelRunning?: boolean;
  readonly onClose: () => void;
}) {
  const { agent, onClose } = props;
  const [cancelRunning, setCancelRunning] = useState(props.cancelRunning ?? false);
  const pause = usePauseAgent(agent.agentId);
  return (
    <ConfirmDialog
      opened
      title={`Pause ${agent.agentName}?`}
      confirmLabel="Pause"
      destructive
      mutation={pause}
      onClose={onClose}
      onConfirm={() => pause.mutate(cancelRunning, { onSuccess: onClose })}
    >
      <Stack gap="md">
        <p>New calls fail with 403 until you resume the agent. Its keys and settings stay.</p>
        <Checkbox
          label="Also cancel running executions"
          description="Cancels all executions that have not ended. Otherwise they continue to their end."
          checked={cancelRunning}
          onChange={({ currentTarget }) => setCancelRunning(currentTarget.checked)}
        />
      </Stack>
    </ConfirmDialog>
  );
}
