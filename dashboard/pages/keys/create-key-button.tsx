import { Button } from '@mantine/core';
import { Icon } from '../../components/icon.tsx';

export function CreateKeyButton({ onClick }: { readonly onClick: () => void }) {
  return (
    <Button leftSection={<Icon name="plus" size={14} />} onClick={onClick}>
      Create key
    </Button>
  );
}
