import { NativeSelect, Stack } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { FormError } from '../states/form-error.tsx';
import { Dialog, DialogActions } from './dialog.tsx';

const gracePeriods = [
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '1 week' },
];

/** Asks how long the old secret works beside the new one. */
export function RotateDialog(props: {
  readonly title: string;
  /** What happens without a grace period. */
  readonly withoutGrace: string;
  readonly pending: boolean;
  readonly error: unknown;
  readonly onRotate: (graceSeconds: number) => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const { title, withoutGrace, pending, error, onRotate, onClose, children } = props;
  const [grace, setGrace] = useState('86400');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onRotate(Number(grace));
  };
  return (
    <Dialog title={title} locked={pending} onClose={onClose}>
      <form onSubmit={submit}>
        <Stack gap="md">
          <p>{children}</p>
          <NativeSelect
            label="Grace period"
            data={[{ value: '0', label: `None: ${withoutGrace}` }, ...gracePeriods]}
            value={grace}
            onChange={({ currentTarget }) => setGrace(currentTarget.value)}
          />
          <FormError error={error} />
          <DialogActions submit="Rotate" pending={pending} />
        </Stack>
      </form>
    </Dialog>
  );
}
