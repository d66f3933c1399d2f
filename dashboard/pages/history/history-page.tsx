import { PageHeader } from '../../components/layout/page-header.tsx';
import { ViewsMenu } from './filters/views-menu.tsx';
import { History } from './list/history-list.tsx';

export function HistoryPage() {
  return (
    <>
      <PageHeader title="Executions" actions={<ViewsMenu />} />
      <History />
    </>
  );
}
