import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Agent } from '../../../src/client/index.ts';
import { PauseDialog } from '../../components/dialogs/pause-dialog.tsx';
import { ResumeDialog } from '../../components/dialogs/resume-dialog.tsx';
import { can, useMe } from '../../data/workspace/me.ts';

/** What an emergency or a first call needs, in the head of every tab. */
export function AgentActions({ agent }: { readonly agent: Agent }) {
  const [dialog, setDialog] = useState<'pause' | 'resume' | null>(null);
  if (!can(useMe(), 'edit')) return null;
  const { allowedActions } = agent;
  const close = () => setDialog(null);
  return (
    <>
      {allowedActions.includes('disable') && (
        <Button variant="default" onClick={() => setDialog('pause')}>
          Pause
        </Button>
      )}
      {allowedActions.includes('re-enable') && (
        <Button onClick={() => setDialog('resume')}>Resume</Button>
      )}
      {(agent.status === 'Draft' || agent.status === 'Testing') && !agent.archived && (
        <Button
          component={Link}
          to="/agents/$agentId/use"
          params={{ agentId: agent.agentId } as never}
          search={{ start: true } as never}
        >
          Deploy and get a key
        </Button>
      )}
      {dialog === 'pause' && <PauseDialog agent={agent} onClose={close} />}
      {dialog === 'resume' && <ResumeDialog agent={agent} onClose={close} />}
    </>
  );
}
