import { Menu } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Agent } from '../../../src/client/index.ts';
import { PauseDialog } from '../../components/dialogs/pause-dialog.tsx';
import { ResumeDialog } from '../../components/dialogs/resume-dialog.tsx';
import { RowMenu } from '../../components/tables/row-menu.tsx';

/** Actions of an agent in its row. */
export function AgentRowMenu({ agent }: { readonly agent: Agent }) {
  const [dialog, setDialog] = useState<'pause' | 'pause and cancel' | 'resume' | null>(null);
  const { agentId, agentName, allowedActions } = agent;
  const close = () => setDialog(null);
  const linkTo = (to: string) => ({ component: Link, to, params: { agentId } as never }) as const;
  return (
    <>
      <RowMenu name={agentName}>
        {allowedActions.includes('disable') && (
          <>
            <Menu.Item onClick={() => setDialog('pause')}>Pause</Menu.Item>
            <Menu.Item onClick={() => setDialog('pause and cancel')}>
              Pause and cancel running executions
            </Menu.Item>
          </>
        )}
        {allowedActions.includes('re-enable') && (
          <Menu.Item onClick={() => setDialog('resume')}>Resume</Menu.Item>
        )}
        <Menu.Item {...linkTo('/agents/$agentId/run')}>Run</Menu.Item>
        <Menu.Item {...linkTo('/agents/$agentId/history')}>Executions</Menu.Item>
        <Menu.Item {...linkTo('/agents/$agentId/versions')}>Versions</Menu.Item>
        <Menu.Item {...linkTo('/agents/$agentId/settings')}>Settings</Menu.Item>
      </RowMenu>
      {(dialog === 'pause' || dialog === 'pause and cancel') && (
        <PauseDialog agent={agent} cancelRunning={dialog === 'pause and cancel'} onClose={close} />
      )}
      {dialog === 'resume' && <ResumeDialog agent={agent} onClose={close} />}
    </>
  );
}
