import type { IssuedApiKey } from '../../../src/client/index.ts';
import { SecretDialog } from '../../kit/secret-dialog.tsx';
import { FirstCall } from './first-call.tsx';

/** The name of a key in a form. */
export const nameField = {
  name: 'name',
  label: 'Name',
  description: 'Which program uses the key',
  required: true,
  maxLength: 200,
} as const;

/** Shows a new key once; if it is for one agent, with commands that call it. */
export function IssuedKey(props: {
  readonly issued: IssuedApiKey;
  /** Default: `API key` and its name. */
  readonly title?: string;
  readonly onClose?: () => void;
}) {
  const { issued, title = `API key ${issued.name}`, onClose } = props;
  const [agentId, ...others] = issued.agentIds ?? [];
  const isCallable = agentId !== undefined && others.length === 0;
  return (
    <SecretDialog
      title={title}
      width={isCallable ? 'large' : 'medium'}
      note="Copy the key now and store it with your program's secrets. Cueline stores only a hash, so it cannot be shown again."
      label="API key"
      secret={issued.key}
      onClose={onClose}
    >
      {isCallable && <FirstCall agentId={agentId} issued={issued} />}
    </SecretDialog>
  );
}
