import type { RouteMeta, RouteRecordRaw } from 'vue-router'
import type en from '@/texts/en/frame'
import { t } from '@/texts/frame'

/** The pages. Each names what it needs; the menu and the guard read it from here. */

/** What a page is called, in the language of the moment, and what it needs. */
const page = (name: keyof typeof en, needs: RouteMeta = {}): RouteMeta => ({
  ...needs,
  get title() {
    return t(name)
  },
})

const sync: RouteRecordRaw[] = [
  {
    path: '',
    name: 'sync',
    component: () => import('@/pages/sync/StoresPage.vue'),
    meta: page('sync'),
  },
  {
    path: 'errors',
    name: 'sync-errors',
    component: () => import('@/pages/sync/ErrorsPage.vue'),
    meta: page('syncErrors'),
  },
  {
    path: 'warnings',
    name: 'sync-warnings',
    component: () => import('@/pages/sync/WarningsPage.vue'),
    meta: page('syncWarnings'),
  },
  {
    path: 'rollout',
    name: 'sync-rollout',
    component: () => import('@/pages/sync/RolloutPage.vue'),
    meta: page('rollout'),
  },
  {
    path: 'stores/:id',
    name: 'sync-store',
    component: () => import('@/pages/sync/StorePage.vue'),
    props: true,
    meta: page('store'),
  },
]

/** How far reports go: those of one's own stores, or of all. What was sold needs one of these, and each report besides. */
export const VIEWS = ['reports.view_local', 'reports.view_global'] as const
/** Who looks after registers, and who sees the reports of what is in their drawers. */
const SEES_DRAWERS = ['registers.view', ...VIEWS] as const

/** What was sold, and what came of it. */
const business: RouteRecordRaw[] = [
  {
    path: 'today',
    name: 'today',
    component: () => import('@/pages/home/TodayPage.vue'),
    meta: page('today', { permissions: VIEWS }),
  },
  {
    path: 'sales',
    meta: { permissions: VIEWS },
    children: [
      { path: '', name: 'sales', component: () => import('@/pages/sales/ListPage.vue'), meta: page('sales') },
      {
        path: ':id',
        name: 'sale',
        component: () => import('@/pages/sales/SalePage.vue'),
        props: true,
        meta: page('receipt'),
      },
    ],
  },
  {
    path: 'drawers',
    meta: { permissions: SEES_DRAWERS },
    children: [
      {
        path: '',
        name: 'drawers',
        component: () => import('@/pages/drawers/ListPage.vue'),
        meta: page('drawers'),
      },
      {
        path: ':id',
        name: 'drawer',
        component: () => import('@/pages/drawers/DrawerPage.vue'),
        props: true,
        meta: page('drawer'),
      },
    ],
  },
  {
    path: 'z-reports',
    meta: { permissions: VIEWS },
    children: [
      {
        path: '',
        name: 'z-reports',
        component: () => import('@/pages/reports/ZListPage.vue'),
        meta: page('zReports', { permissions: ['reports.z_report'] }),
      },
      {
        path: ':id',
        name: 'z-report',
        component: () => import('@/pages/reports/ZPage.vue'),
        props: true,
        meta: page('zReport', { permissions: ['reports.z_report'] }),
      },
    ],
  },
  {
    path: 'zz-reports',
    meta: { permissions: VIEWS },
    children: [
      {
        path: '',
        name: 'zz-reports',
        component: () => import('@/pages/reports/ZzListPage.vue'),
        meta: page('zzReports', { permissions: ['reports.zz_report'] }),
      },
      {
        path: ':storeId/:number',
        name: 'zz-report',
        component: () => import('@/pages/reports/ZzPage.vue'),
        props: true,
        meta: page('zzReport', { permissions: ['reports.zz_report'] }),
      },
    ],
  },
  {
    path: 'variance',
    meta: { permissions: VIEWS },
    children: [
      {
        path: '',
        name: 'variance',
        component: () => import('@/pages/reports/VariancePage.vue'),
        meta: page('variance', { permissions: ['reports.z_report'] }),
      },
    ],
  },
  {
    path: 'journal',
    name: 'journal',
    component: () => import('@/pages/journal/JournalPage.vue'),
    // The journal needs more, its accounts one of these.
    meta: page('journal', { permissions: ['reports.z_report', 'stores.edit'] }),
  },
  {
    path: 'stock',
    meta: { permissions: ['inventory.view'] },
    children: [
      { path: '', name: 'stock', component: () => import('@/pages/stock/ListPage.vue'), meta: page('stock') },
      {
        path: 'changes',
        name: 'stock-changes',
        component: () => import('@/pages/stock/ChangesPage.vue'),
        meta: page('stockChanges'),
      },
      {
        path: ':id',
        name: 'stock-product',
        component: () => import('@/pages/stock/ProductPage.vue'),
        props: true,
        meta: page('stockProduct'),
      },
    ],
  },
]

const pages: RouteRecordRaw[] = [
  ...business,
  { path: 'sync', meta: { permissions: ['stores.view'] }, children: sync },
  {
    path: 'stores',
    meta: { permissions: ['stores.view'] },
    children: [
      { path: '', name: 'stores', component: () => import('@/pages/stores/ListPage.vue'), meta: page('stores') },
      {
        path: 'new',
        name: 'store-new',
        component: () => import('@/pages/stores/EditPage.vue'),
        meta: page('newStore', { permissions: ['stores.create'], everywhere: true }),
      },
      {
        path: ':id',
        name: 'store',
        component: () => import('@/pages/stores/EditPage.vue'),
        props: true,
        meta: page('store'),
      },
    ],
  },
  {
    path: 'products',
    meta: { permissions: ['products.view'] },
    children: [
      {
        path: '',
        name: 'products',
        component: () => import('@/pages/products/ListPage.vue'),
        meta: page('products'),
      },
      {
        path: 'new',
        name: 'product-new',
        component: () => import('@/pages/products/EditPage.vue'),
        meta: page('newProduct', { permissions: ['products.create'], everywhere: true }),
      },
      {
        path: ':id',
        name: 'product',
        component: () => import('@/pages/products/EditPage.vue'),
        props: true,
        meta: page('product'),
      },
    ],
  },
  {
    path: 'registers',
    name: 'registers',
    component: () => import('@/pages/registers/ListPage.vue'),
    meta: page('registers', { permissions: ['registers.view'] }),
  },
  {
    path: 'departments',
    name: 'departments',
    component: () => import('@/pages/departments/ListPage.vue'),
    meta: page('departments', { permissions: ['products.view'] }),
  },
  {
    path: 'specials',
    meta: { permissions: ['specials.view'] },
    children: [
      {
        path: '',
        name: 'specials',
        component: () => import('@/pages/specials/ListPage.vue'),
        meta: page('specials'),
      },
      {
        path: 'calendar',
        name: 'specials-calendar',
        component: () => import('@/pages/specials/CalendarPage.vue'),
        meta: page('specialsCalendar'),
      },
      {
        path: 'preview',
        name: 'specials-preview',
        component: () => import('@/pages/specials/PreviewPage.vue'),
        meta: page('specialsPreview'),
      },
      {
        path: 'new',
        name: 'special-new',
        component: () => import('@/pages/specials/EditPage.vue'),
        meta: page('newSpecial', { permissions: ['specials.manage'], everywhere: true }),
      },
      {
        path: ':id',
        name: 'special',
        component: () => import('@/pages/specials/EditPage.vue'),
        props: true,
        meta: page('special'),
      },
    ],
  },
  {
    path: 'taxes',
    meta: { permissions: ['taxes.view'] },
    children: [
      {
        path: '',
        name: 'taxes',
        component: () => import('@/pages/taxes/GroupsPage.vue'),
        meta: page('taxes'),
      },
      {
        path: 'rates',
        name: 'tax-rates',
        component: () => import('@/pages/taxes/RatesPage.vue'),
        meta: page('taxRates'),
      },
    ],
  },
  {
    path: 'tenders',
    name: 'tenders',
    component: () => import('@/pages/tenders/ListPage.vue'),
    meta: page('tenders', { permissions: ['tenders.view'] }),
  },
  {
    path: 'reasons',
    name: 'reasons',
    component: () => import('@/pages/reasons/ListPage.vue'),
    meta: page('reasons', { permissions: ['stores.view'] }),
  },
  {
    path: 'sales-reps',
    name: 'sales-reps',
    component: () => import('@/pages/reps/ListPage.vue'),
    meta: page('salesReps', { permissions: ['sales_reps.view'] }),
  },
  {
    path: 'customers',
    meta: { permissions: ['customers.view'] },
    children: [
      {
        path: '',
        name: 'customers',
        component: () => import('@/pages/customers/ListPage.vue'),
        meta: page('customers'),
      },
      {
        path: ':id/sales',
        name: 'customer-sales',
        component: () => import('@/pages/customers/SalesPage.vue'),
        props: true,
        meta: page('customerSales'),
      },
    ],
  },
  {
    path: 'setup',
    name: 'setup',
    component: () => import('@/pages/setup/SetupPage.vue'),
    meta: page('setup', {
      permissions: ['taxes.manage', 'products.create', 'tenders.manage', 'stores.create', 'users.create'],
      everywhere: true,
    }),
  },
  {
    path: 'alerts',
    name: 'alerts',
    component: () => import('@/pages/alerts/AlertsPage.vue'),
    meta: page('alerts', { permissions: ['stores.view'] }),
  },
  {
    path: 'chain',
    name: 'chain',
    component: () => import('@/pages/chain/ChainPage.vue'),
    meta: page('chain', { permissions: ['stores.view'] }),
  },
  {
    path: 'users',
    meta: { permissions: ['users.view'] },
    children: [
      { path: '', name: 'users', component: () => import('@/pages/users/ListPage.vue'), meta: page('users') },
      {
        path: 'locks',
        name: 'locks',
        component: () => import('@/pages/users/LocksPage.vue'),
        meta: page('locks', { permissions: ['users.edit'] }),
      },
      {
        path: ':id',
        name: 'user',
        component: () => import('@/pages/users/DetailPage.vue'),
        props: true,
        meta: page('user'),
      },
    ],
  },
  {
    path: 'roles',
    meta: { permissions: ['roles.view', 'users.manage_roles'] },
    children: [
      { path: '', name: 'roles', component: () => import('@/pages/roles/ListPage.vue'), meta: page('roles') },
      {
        path: 'explain',
        name: 'explain',
        component: () => import('@/pages/roles/ExplainPage.vue'),
        meta: page('explain', { permissions: ['roles.view'] }),
      },
      {
        path: ':id',
        name: 'role',
        component: () => import('@/pages/roles/DetailPage.vue'),
        props: true,
        meta: page('role', { permissions: ['roles.view'] }),
      },
    ],
  },
  {
    path: 'audit',
    name: 'audit',
    component: () => import('@/pages/audit/AuditPage.vue'),
    meta: page('audit', { permissions: ['users.manage_roles'], everywhere: true }),
  },
  {
    path: 'account',
    name: 'account',
    component: () => import('@/pages/account/AccountPage.vue'),
    meta: page('account'),
  },
  {
    path: 'account/security',
    name: 'security',
    component: () => import('@/pages/account/SecurityPage.vue'),
    meta: page('security'),
  },
  {
    path: ':rest(.*)',
    name: 'not-found',
    component: () => import('@/pages/NotFoundPage.vue'),
    meta: page('notFound'),
  },
]

export const routes: RouteRecordRaw[] = [
  { path: '/login', name: 'login', component: () => import('@/pages/LoginPage.vue'), meta: page('signIn') },
  {
    path: '/unauthorized',
    name: 'unauthorized',
    component: () => import('@/pages/UnauthorizedPage.vue'),
    meta: page('notAllowed'),
  },
  {
    path: '/change-pin',
    name: 'change-pin',
    component: () => import('@/pages/ChangePinPage.vue'),
    meta: page('newPin', { requiresAuth: true }),
  },
  {
    path: '/second-factor',
    name: 'second-factor',
    component: () => import('@/pages/SecondFactorPage.vue'),
    meta: page('secondFactor', { requiresAuth: true }),
  },
  { path: '/', name: 'home', component: () => import('@/pages/NotFoundPage.vue'), meta: { requiresAuth: true } },
  {
    path: '/hq',
    component: () => import('@/components/AppShell.vue'),
    meta: { requiresAuth: true },
    children: [{ path: '', redirect: '/' }, ...pages],
  },
  {
    path: '/:rest(.*)',
    name: 'lost',
    component: () => import('@/pages/NotFoundPage.vue'),
    meta: page('notFound'),
  },
]

/**
 * The menu in its groups and their order; what a user may not open is not in theirs, nor a group without a page. They
 * start at the first page that is.
 */
export const MENU = [
  { group: 'selling', pages: ['today', 'sales', 'drawers', 'stock', 'customers'] },
  { group: 'reports', pages: ['z-reports', 'zz-reports', 'variance', 'journal'] },
  { group: 'range', pages: ['products', 'departments', 'specials', 'taxes', 'tenders'] },
  { group: 'shops', pages: ['stores', 'registers', 'reasons', 'sync', 'alerts', 'chain'] },
  { group: 'people', pages: ['users', 'roles', 'sales-reps', 'audit'] },
] as const

/** A page with an entry in the menu. */
export type MenuPage = (typeof MENU)[number]['pages'][number]
