import { Checkbox, Stack } from '@mantine/core';
import { useState } from 'react';
import type { Agent } from '../../../src/client/index.ts';
import { moveAgent } from '../../data/agents/agent-actions.ts';
import { ConfirmDialog } from '../../kit/confirm-dialog.tsx';

/** Pauses an agent, from its page, its row and the command palette. */
export function PauseDialog(props: {
  readonly agent: Pick<Agent, 'agentId' | 'agentName'>;
  /** Whether the checkbox is checked at first. */
  readonly cancelRunning?: boolean;
}) {
  const { agentId, agentName } = props.agent;
  const [cancelRunning, setCancelRunning] = useState(props.cancelRunning ?? false);
  return (
    <ConfirmDialog
      title={`Pause ${agentName}?`}
      confirm="Pause"
      action={moveAgent(agentId, 'disable', { cancelRunning })}
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
