import { Button } from '@mantine/core';
import type { Agent } from '../../../../src/client/index.ts';
import { useNavigateFrom } from '../../../components/hooks/use-navigate-from.ts';
import { Card } from '../../../components/layout/card.tsx';
import { deleteAgent, moveAgent } from '../../../data/agents/agent-actions.ts';
import { ConfirmDialog } from '../../../kit/confirm-dialog.tsx';
import { openDialog } from '../../../kit/dialog.tsx';
import { actionTexts } from '../lifecycle/lifecycle-actions.ts';
import classes from './settings.module.css';

/** Archives or deletes the agent. */
export function DangerCard({ agent }: { readonly agent: Agent }) {
  const { agentId, agentName, archived, allowedActions, status } = agent;
  const action = archived ? 'restore' : 'archive';
  const { verb, consequence, question } = actionTexts[action];
  const deletable = status === 'Testing' || status === 'Paused';
  return (
    <div className={classes.danger}>
      <Card title="Danger zone">
        <div className={classes.action}>
          <div>
            <strong>{verb}</strong>
            <p>
              {allowedActions.includes(action)
                ? consequence
                : 'A deployed agent cannot be archived. Pause it first.'}
            </p>
          </div>
          <Button
            variant="default"
            disabled={!allowedActions.includes(action)}
            onClick={() =>
              openDialog(
                <ConfirmDialog
                  title={question}
                  confirm={verb}
                  destructive={false}
                  action={moveAgent(agentId, action)}
                >
                  {consequence}
                </ConfirmDialog>,
              )
            }
          >
            {verb}
          </Button>
        </div>
        <div className={classes.action}>
          <div>
            <strong>Delete</strong>
            <p>
              {deletable
                ? 'Deletes the agent permanently. Its records stay until their retention period ends.'
                : 'Only agents in Testing or Paused can be deleted.'}
            </p>
          </div>
          <Button
            color="red.9"
            disabled={!deletable}
            onClick={() => openDialog(<DeleteAgent {...{ agentId, agentName }} />)}
          >
            Delete
          </Button>
        </div>
      </Card>
    </div>
  );
}

function DeleteAgent({ agentId, agentName }: Pick<Agent, 'agentId' | 'agentName'>) {
  const navigateFrom = useNavigateFrom(agentId);
  return (
    <ConfirmDialog
      title={`Delete ${agentName}?`}
      confirm="Delete"
      action={deleteAgent(agentId, () => navigateFrom({ to: '/agents', replace: true }))}
    >
      Calls will fail with 404, and this cannot be undone. The prompt stays; execution records stay
      until their retention period ends.
    </ConfirmDialog>
  );
}
