import type { ReactNode } from 'react';
import { FormDialog } from './form-dialog.tsx';
import type { Action } from './resource.ts';

/** Replaces a secret, and asks how long the old one works beside the new one. */
export function RotateDialog<Result>(props: {
  readonly title: string;
  readonly intro: ReactNode;
  /** What happens without a grace period. */
  readonly withoutGrace: string;
  readonly action: Action<number, Result>;
  /** Shows the new secret. */
  readonly done: (result: Result) => ReactNode;
}) {
  const { withoutGrace, ...others } = props;
  const options = [
    { value: '0', label: `None: ${withoutGrace}` },
    { value: '3600', label: '1 hour' },
    { value: '86400', label: '1 day' },
    { value: '604800', label: '1 week' },
  ];
  return (
    <FormDialog
      {...others}
      submit="Rotate"
      start={{ graceSeconds: '86400' }}
      fields={() => [{ name: 'graceSeconds', label: 'Grace period', options }]}
      input={({ graceSeconds }) => Number(graceSeconds)}
    />
  );
}
