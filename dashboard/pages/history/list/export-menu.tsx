import { Button, Menu } from '@mantine/core';
import type { ExecutionFilters } from '../../../../src/client/index.ts';
import { Icon } from '../../../components/icon.tsx';
import { FormError } from '../../../components/states/form-error.tsx';
import { useSingleFlight } from '../../../data/client/use-single-flight.ts';
import { checkExport, type ExportFormat, exportHref } from '../../../data/executions/executions.ts';

/** Exports all matching executions as a browser download of any size. The server names the file after the filters. */
export function ExportMenu(props: {
  readonly agentId: string | undefined;
  /** Null if there is nothing to export. */
  readonly filters: ExecutionFilters | null;
}) {
  const { begin, items } = useExport(props.agentId, props.filters ?? {});
  return (
    <>
      <Menu width={220}>
        <Menu.Target>
          <Button
            variant="default"
            size="xs"
            disabled={props.filters === null}
            loading={begin.isPending}
            rightSection={<Icon name="down" size={12} />}
          >
            Export
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>All matching executions, with prompts</Menu.Label>
          {items}
        </Menu.Dropdown>
      </Menu>
      <FormError error={begin.error} />
    </>
  );
}

/** The items of a menu that exports. */
export function useExport(agentId: string | undefined, filters: ExecutionFilters) {
  const begin = useSingleFlight({
    mutationFn: async (format: ExportFormat) => {
      await checkExport(agentId, filters);
      download(exportHref(agentId, filters, format), `executions.${format}`);
    },
  });
  const items = formats.map(({ format, label }) => (
    <Menu.Item key={format} onClick={() => begin.mutate(format)}>
      {label}
    </Menu.Item>
  ));
  return { begin, items };
}

const formats = [
  { format: 'jsonl', label: 'JSON Lines' },
  { format: 'csv', label: 'CSV for spreadsheets' },
] as const;

/** The server's name of the file takes precedence. */
function download(href: string, name: string): void {
  Object.assign(document.createElement('a'), { href, download: name }).click();
}
