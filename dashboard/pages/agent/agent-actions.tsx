import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Agent } from '../../../src/client/index.ts';
import { PauseDialog } from '../../components/dialogs/pause-dialog.tsx';
import { ResumeDialog } from '../../components/dialogs/resume-dialog.tsx';
import { can, useMe } from '../../data/workspace/me.ts';
import { openDialog } from '../../kit/dialog.tsx';

/** What an emergency or a first call needs, in the head of every tab. */
export function AgentActions({ agent }: { readonly agent: Agent }) {
  if (!can(useMe(), 'edit')) return null;
  const { allowedActions } = agent;
  return (
    <>
      {allowedActions.includes('disable') && (
        <Button variant="default" onClick={() => openDialog(<PauseDialog agent={agent} />)}>
          Pause
        </Button>
      )}
      {allowedActions.includes('re-enable') && (
        <Button onClick={() => openDialog(<ResumeDialog agent={agent} />)}>Resume</Button>
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
    </>
  );
}
