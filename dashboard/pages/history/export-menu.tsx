import { Button, Menu } from '@mantine/core';
import type { ExecutionFilters } from '../../../src/client/index.ts';
import { FormError } from '../../components/form-error.tsx';
import { Icon } from '../../components/icon.tsx';
import { useSingleFlight } from '../../data/client/use-single-flight.ts';
import { checkExport, type ExportFormat, exportHref } from '../../data/executions/executions.ts';

interface Exported {
  readonly agentId: string | undefined;
  readonly filters: ExecutionFilters;
}

/** Exports all matching executions as a browser download of any size. */
export function ExportMenu({ agentId, filters }: Exported) {
  const begin = useSingleFlight({
    mutationFn: async (format: ExportFormat) => {
      await checkExport(agentId, filters);
      download(exportHref(agentId, filters, format), `executions.${format}`);
    },
  });
  return (
    <>
      <Menu width={220}>
        <Menu.Target>
          <Button
            variant="default"
            size="xs"
            loading={begin.isPending}
            rightSection={<Icon name="down" size={12} />}
          >
            Export
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>All matching executions, with prompts</Menu.Label>
          {formats.map(({ format, label }) => (
            <Menu.Item key={format} onClick={() => begin.mutate(format)}>
              {label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <FormError error={begin.error} />
    </>
  );
}

const formats = [
  { format: 'jsonl', label: 'JSON Lines' },
  { format: 'csv', label: 'CSV for spreadsheets' },
] as const;

function download(href: string, name: string): void {
  Object.assign(document.createElement('a'), { href, download: name }).click();
}
