import type { ApiKey } from '../../../src/client/index.ts';
import { RateLimitFields } from '../../components/fields/rate-limit-fields.tsx';
import { KeyRefusals } from '../../components/refusals.tsx';
import { cueline } from '../../data/client/client.ts';
import { keyStateOf, keys } from '../../data/workspace/keys.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { ConfirmDialog } from '../../kit/confirm-dialog.tsx';
import { openDialog } from '../../kit/dialog.tsx';
import { FormDialog } from '../../kit/form-dialog.tsx';
import { RotateDialog } from '../../kit/rotate-dialog.tsx';
import { RowMenu } from '../../kit/row-menu.tsx';
import { IssuedKey, nameField } from './issued-key.tsx';

/** An active key can be changed. */
export function KeyActions({ apiKey }: { readonly apiKey: ApiKey }) {
  const isEditable = can(useMe(), 'edit') && keyStateOf(apiKey) === 'active';
  return (
    <RowMenu
      name={apiKey.name}
      actions={[
        ['Refused calls', () => openDialog(<KeyRefusals {...apiKey} />)],
        isEditable && ['Edit', () => openDialog(<EditKey apiKey={apiKey} />)],
        isEditable && ['Rotate', () => openDialog(<RotateKey apiKey={apiKey} />)],
        isEditable && ['Revoke', () => openDialog(<RevokeKey apiKey={apiKey} />), 'bad'],
      ]}
    />
  );
}

interface Props {
  readonly apiKey: ApiKey;
}

/** Renames a key and changes its limits. Sends only what was edited. */
function EditKey({ apiKey }: Props) {
  const { name, rateLimits } = apiKey;
  return (
    <FormDialog
      title={`Edit ${name}`}
      width="medium"
      submit="Save"
      action={keys.update(apiKey.apiKeyId)}
      start={{ name, rateLimits }}
      input={(edited) => ({
        ...(edited.name !== name && { name: edited.name }),
        ...(edited.rateLimits !== rateLimits && { rateLimits: edited.rateLimits }),
      })}
      fields={({ values, change, error }) => [
        nameField,
        [
          <RateLimitFields
            key="limits"
            limits={values.rateLimits}
            onChange={(rateLimits) => change({ rateLimits })}
            error={error}
          />,
        ],
        <p key="note">
          The next call counts against the new limits. To change agents or permissions, create
          another key.
        </p>,
      ]}
    />
  );
}

/** Replaces a key; the old one keeps working for a grace period. */
function RotateKey({ apiKey }: Props) {
  return (
    <RotateDialog
      title={`Rotate ${apiKey.name}`}
      intro="Creates a key with the same name, agents, permissions and limits. The old key stops working after the grace period."
      withoutGrace="the old key stops working immediately"
      action={keys.action(
        (graceSeconds: number) => cueline.keys.rotate(apiKey.apiKeyId, { graceSeconds }),
        'Key rotated',
      )}
      done={(issued) => <IssuedKey issued={issued} />}
    />
  );
}

function RevokeKey({ apiKey }: Props) {
  return (
    <ConfirmDialog
      title={`Revoke ${apiKey.name}?`}
      confirm="Revoke"
      action={keys.action<void, ApiKey>(() => cueline.keys.revoke(apiKey.apiKeyId), 'Key revoked')}
    >
      Calls with <code>{apiKey.start}…</code> will fail with 401 immediately, and this cannot be
      undone. Executions in progress continue. To replace the key without downtime, rotate it.
    </ConfirmDialog>
  );
}
