import { Menu } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Agent } from '../../../src/client/index.ts';
import { PauseDialog } from '../../components/dialogs/pause-dialog.tsx';
import { ResumeDialog } from '../../components/dialogs/resume-dialog.tsx';
import { openDialog } from '../../kit/dialog.tsx';
import { RowMenu } from '../../kit/row-menu.tsx';

/** Actions of an agent in its row. */
export function AgentRowMenu({ agent }: { readonly agent: Agent }) {
  const { agentId, agentName, allowedActions } = agent;
  const linkTo = (to: string) => ({ component: Link, to, params: { agentId } as never }) as const;
  const pause = (cancelRunning: boolean) => () =>
    openDialog(<PauseDialog agent={agent} cancelRunning={cancelRunning} />);
  const canPause = allowedActions.includes('disable');
  return (
    <RowMenu
      name={agentName}
      actions={[
        canPause && ['Pause', pause(false)],
        canPause && ['Pause and cancel running executions', pause(true)],
        allowedActions.includes('re-enable') && [
          'Resume',
          () => openDialog(<ResumeDialog agent={agent} />),
        ],
      ]}
    >
      <Menu.Item {...linkTo('/agents/$agentId/run')}>Run</Menu.Item>
      <Menu.Item {...linkTo('/agents/$agentId/history')}>Executions</Menu.Item>
      <Menu.Item {...linkTo('/agents/$agentId/versions')}>Versions</Menu.Item>
      <Menu.Item {...linkTo('/agents/$agentId/settings')}>Settings</Menu.Item>
    </RowMenu>
  );
}
