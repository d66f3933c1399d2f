import type { ReactNode } from 'react';
import { NewSecret } from '../../components/dialogs/new-secret.tsx';

/** A new key, shown once, with what belongs to it. */
export function ShownKey(props: {
  readonly secret: string;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}) {
  return (
    <NewSecret
      {...props}
      note="Copy the key now and store it with your program's secrets. Cueline stores only a hash, so it cannot be shown again."
      label="API key"
    />
  );
}
