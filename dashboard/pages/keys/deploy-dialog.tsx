import type { Agent } from '../../../src/client/index.ts';
import { deployWithKey } from '../../data/agents/first-call.ts';
import { FormDialog } from '../../kit/form-dialog.tsx';
import { IssuedKey } from './issued-key.tsx';

/** Deploys an agent, issues a key for it, and shows how to make the first call. */
export function DeployDialog(props: { readonly agent: Agent; readonly onClose: () => void }) {
  const { agent, onClose } = props;
  const isOpen = agent.status === 'Deployed' && agent.apiEnabled && !agent.archived;
  return (
    <FormDialog
      title={isOpen ? 'Get a key' : 'Deploy and get a key'}
      submit={isOpen ? 'Create key' : 'Deploy and create key'}
      cancel="Later"
      onClose={onClose}
      intro={`${isOpen ? '' : 'Deploys the agent, so that programs can call it. '}The key can execute only this agent, within the default limits of keys.`}
      action={deployWithKey(agent.agentId)}
      start={{ name: `${agent.agentName.slice(0, nameMax - 4)} key` }}
      input={({ name }) => name}
      fields={() => [
        {
          name: 'name',
          label: 'Name of the key',
          description: 'Which program uses it',
          required: true,
          maxLength: nameMax,
        },
      ]}
      done={(issued) => (
        <IssuedKey title={`Call ${agent.agentName}`} issued={issued} onClose={onClose} />
      )}
    />
  );
}

const nameMax = 200;
