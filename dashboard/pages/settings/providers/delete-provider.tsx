import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { ConfirmDialog } from '../../../components/dialogs/confirm-dialog.tsx';
import { useDeleteProvider } from '../../../data/workspace/providers.ts';

export function DeleteProvider({ name }: { readonly name: string }) {
  const remove = useDeleteProvider();
  const [isConfirming, { open, close }] = useDisclosure();
  return (
    <>
      <Button size="xs" variant="default" onClick={open} aria-label={`Delete ${name}`}>
        Delete
      </Button>
      <ConfirmDialog
        opened={isConfirming}
        title={`Delete ${name}?`}
        confirmLabel="Delete"
        destructive
        mutation={remove}
        onClose={close}
        onConfirm={() => remove.mutate(name, { onSuccess: close })}
      >
        The credential is deleted. Executions with models under <code>{name}/</code> will fail with
        PROVIDER_NOT_CONFIGURED.
      </ConfirmDialog>
    </>
  );
}
