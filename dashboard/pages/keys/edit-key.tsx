import { Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { ApiKey } from '../../../src/client/index.ts';
import { Dialog, DialogActions } from '../../components/dialogs/dialog.tsx';
import fields from '../../components/fields/fields.module.css';
import { RateLimitFields } from '../../components/fields/rate-limit-fields.tsx';
import { FormError } from '../../components/states/form-error.tsx';
import { useChangeKey } from '../../data/workspace/keys.ts';
import { KeyNameField } from './key-name-field.tsx';

/** Renames a key and changes its limits. Sends only what was edited. */
export function EditKey({
  apiKey,
  onClose,
}: {
  readonly apiKey: ApiKey;
  readonly onClose: () => void;
}) {
  const [name, setName] = useState(apiKey.name);
  const [limits, setLimits] = useState(apiKey.rateLimits);
  const change = useChangeKey();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const isLimited = JSON.stringify(limits) !== JSON.stringify(apiKey.rateLimits);
    const patch = {
      ...(name !== apiKey.name && { name }),
      ...(isLimited && { rateLimits: limits }),
    };
    change.mutate({ apiKeyId: apiKey.apiKeyId, patch }, { onSuccess: onClose });
  };
  return (
    <Dialog title={`Edit ${apiKey.name}`} size="lg" locked={change.isPending} onClose={onClose}>
      <form onSubmit={submit}>
        <Stack gap="md">
          <KeyNameField name={name} error={change.error} onChange={setName} />
          <div className={fields.thirds}>
            <RateLimitFields limits={limits} onChange={setLimits} error={change.error} />
          </div>
          <p>
            The next call counts against the new limits. To change agents or permissions, create
            another key.
          </p>
          <FormError error={change.error} />
          <DialogActions submit="Save" pending={change.isPending} />
        </Stack>
      </form>
    </Dialog>
  );
}
