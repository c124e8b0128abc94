import type { RouteRecordRaw } from 'vue-router'

/** The pages. Each names what it needs; the menu and the guard read it from here. */

const sync: RouteRecordRaw[] = [
  {
    path: '',
    name: 'sync',
    component: () => import('@/pages/sync/StoresPage.vue'),
    meta: { title: 'Synchronisation' },
  },
  {
    path: 'errors',
    name: 'sync-errors',
    component: () => import('@/pages/sync/ErrorsPage.vue'),
    meta: { title: 'Failed entries' },
  },
  {
    path: 'warnings',
    name: 'sync-warnings',
    component: () => import('@/pages/sync/WarningsPage.vue'),
    meta: { title: 'Warnings' },
  },
  {
    path: 'rollout',
    name: 'sync-rollout',
    component: () => import('@/pages/sync/RolloutPage.vue'),
    meta: { title: 'Rollout' },
  },
  {
    path: 'stores/:id',
    name: 'sync-store',
    component: () => import('@/pages/sync/StorePage.vue'),
    props: true,
    meta: { title: 'Store' },
  },
]

/** What was sold, and what came of it. */
const business: RouteRecordRaw[] = [
  {
    path: 'today',
    name: 'today',
    component: () => import('@/pages/home/TodayPage.vue'),
    meta: { title: 'Today', permissions: ['reports.view_global'] },
  },
  {
    path: 'sales',
    meta: { permissions: ['reports.view_global'] },
    children: [
      { path: '', name: 'sales', component: () => import('@/pages/sales/ListPage.vue'), meta: { title: 'Sales' } },
      {
        path: ':id',
        name: 'sale',
        component: () => import('@/pages/sales/SalePage.vue'),
        props: true,
        meta: { title: 'Receipt' },
      },
    ],
  },
  {
    path: 'drawers',
    meta: { permissions: ['registers.view'] },
    children: [
      {
        path: '',
        name: 'drawers',
        component: () => import('@/pages/drawers/ListPage.vue'),
        meta: { title: 'Drawers' },
      },
      {
        path: ':id',
        name: 'drawer',
        component: () => import('@/pages/drawers/DrawerPage.vue'),
        props: true,
        meta: { title: 'Drawer' },
      },
    ],
  },
  {
    path: 'stock',
    meta: { permissions: ['inventory.view'] },
    children: [
      { path: '', name: 'stock', component: () => import('@/pages/stock/ListPage.vue'), meta: { title: 'Stock' } },
      {
        path: 'changes',
        name: 'stock-changes',
        component: () => import('@/pages/stock/ChangesPage.vue'),
        meta: { title: 'Stock changes' },
      },
      {
        path: ':id',
        name: 'stock-product',
        component: () => import('@/pages/stock/ProductPage.vue'),
        props: true,
        meta: { title: 'Stock of a product' },
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
      { path: '', name: 'stores', component: () => import('@/pages/stores/ListPage.vue'), meta: { title: 'Stores' } },
      {
        path: 'new',
        name: 'store-new',
        component: () => import('@/pages/stores/EditPage.vue'),
        meta: { title: 'New store', permissions: ['stores.create'], everywhere: true },
      },
      {
        path: ':id',
        name: 'store',
        component: () => import('@/pages/stores/EditPage.vue'),
        props: true,
        meta: { title: 'Store' },
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
        meta: { title: 'Products' },
      },
      {
        path: 'new',
        name: 'product-new',
        component: () => import('@/pages/products/EditPage.vue'),
        meta: { title: 'New product', permissions: ['products.create'], everywhere: true },
      },
      {
        path: ':id',
        name: 'product',
        component: () => import('@/pages/products/EditPage.vue'),
        props: true,
        meta: { title: 'Product' },
      },
    ],
  },
  {
    path: 'registers',
    name: 'registers',
    component: () => import('@/pages/registers/ListPage.vue'),
    meta: { title: 'Registers', permissions: ['registers.view'] },
  },
  {
    path: 'departments',
    name: 'departments',
    component: () => import('@/pages/departments/ListPage.vue'),
    meta: { title: 'Departments', permissions: ['products.view'] },
  },
  {
    path: 'specials',
    meta: { permissions: ['specials.view'] },
    children: [
      {
        path: '',
        name: 'specials',
        component: () => import('@/pages/specials/ListPage.vue'),
        meta: { title: 'Specials' },
      },
      {
        path: 'calendar',
        name: 'specials-calendar',
        component: () => import('@/pages/specials/CalendarPage.vue'),
        meta: { title: 'Calendar of specials' },
      },
      {
        path: 'preview',
        name: 'specials-preview',
        component: () => import('@/pages/specials/PreviewPage.vue'),
        meta: { title: 'What a cart costs' },
      },
      {
        path: 'new',
        name: 'special-new',
        component: () => import('@/pages/specials/EditPage.vue'),
        meta: { title: 'New special', permissions: ['specials.manage'], everywhere: true },
      },
      {
        path: ':id',
        name: 'special',
        component: () => import('@/pages/specials/EditPage.vue'),
        props: true,
        meta: { title: 'Special' },
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
        meta: { title: 'Taxes' },
      },
      {
        path: 'rates',
        name: 'tax-rates',
        component: () => import('@/pages/taxes/RatesPage.vue'),
        meta: { title: 'Tax rates' },
      },
    ],
  },
  {
    path: 'tenders',
    name: 'tenders',
    component: () => import('@/pages/tenders/ListPage.vue'),
    meta: { title: 'Tenders', permissions: ['tenders.view'] },
  },
  {
    path: 'reasons',
    name: 'reasons',
    component: () => import('@/pages/reasons/ListPage.vue'),
    meta: { title: 'Reasons', permissions: ['stores.view'] },
  },
  {
    path: 'sales-reps',
    name: 'sales-reps',
    component: () => import('@/pages/reps/ListPage.vue'),
    meta: { title: 'Sales representatives', permissions: ['sales_reps.view'] },
  },
  {
    path: 'customers',
    name: 'customers',
    component: () => import('@/pages/customers/ListPage.vue'),
    meta: { title: 'Customers', permissions: ['customers.view'] },
  },
  {
    path: 'setup',
    name: 'setup',
    component: () => import('@/pages/setup/SetupPage.vue'),
    meta: {
      title: 'First steps',
      permissions: ['taxes.manage', 'products.create', 'tenders.manage', 'stores.create', 'users.create'],
      everywhere: true,
    },
  },
  {
    path: 'users',
    meta: { permissions: ['users.view'] },
    children: [
      { path: '', name: 'users', component: () => import('@/pages/users/ListPage.vue'), meta: { title: 'Users' } },
      {
        path: 'locks',
        name: 'locks',
        component: () => import('@/pages/users/LocksPage.vue'),
        meta: { title: 'Locked sign-ins', permissions: ['users.edit'] },
      },
      {
        path: ':id',
        name: 'user',
        component: () => import('@/pages/users/DetailPage.vue'),
        props: true,
        meta: { title: 'User' },
      },
    ],
  },
  {
    path: 'roles',
    meta: { permissions: ['roles.view', 'users.manage_roles'] },
    children: [
      { path: '', name: 'roles', component: () => import('@/pages/roles/ListPage.vue'), meta: { title: 'Roles' } },
      {
        path: 'explain',
        name: 'explain',
        component: () => import('@/pages/roles/ExplainPage.vue'),
        meta: { title: 'Who may do what', permissions: ['roles.view'] },
      },
      {
        path: ':id',
        name: 'role',
        component: () => import('@/pages/roles/DetailPage.vue'),
        props: true,
        meta: { title: 'Role', permissions: ['roles.view'] },
      },
    ],
  },
  {
    path: 'audit',
    name: 'audit',
    component: () => import('@/pages/audit/AuditPage.vue'),
    meta: { title: 'Audit log', permissions: ['users.manage_roles'], everywhere: true },
  },
  {
    path: 'account',
    name: 'account',
    component: () => import('@/pages/account/AccountPage.vue'),
    meta: { title: 'Your account' },
  },
  {
    path: 'account/security',
    name: 'security',
    component: () => import('@/pages/account/SecurityPage.vue'),
    meta: { title: 'Security of your account' },
  },
  {
    path: ':rest(.*)',
    name: 'not-found',
    component: () => import('@/pages/NotFoundPage.vue'),
    meta: { title: 'Not found' },
  },
]

export const routes: RouteRecordRaw[] = [
  { path: '/login', name: 'login', component: () => import('@/pages/LoginPage.vue'), meta: { title: 'Sign in' } },
  {
    path: '/unauthorized',
    name: 'unauthorized',
    component: () => import('@/pages/UnauthorizedPage.vue'),
    meta: { title: 'Not allowed' },
  },
  {
    path: '/change-pin',
    name: 'change-pin',
    component: () => import('@/pages/ChangePinPage.vue'),
    meta: { title: 'New PIN', requiresAuth: true },
  },
  {
    path: '/second-factor',
    name: 'second-factor',
    component: () => import('@/pages/SecondFactorPage.vue'),
    meta: { title: 'Second factor', requiresAuth: true },
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
    meta: { title: 'Not found' },
  },
]

/**
 * The menu in its groups and their order; what a user may not open is not in theirs, nor a group without a page. They
 * start at the first page that is.
 */
export const MENU = [
  { group: 'Selling', pages: ['today', 'sales', 'drawers', 'stock', 'customers'] },
  { group: 'Range', pages: ['products', 'departments', 'specials', 'taxes', 'tenders'] },
  { group: 'Shops', pages: ['stores', 'registers', 'reasons', 'sync'] },
  { group: 'People', pages: ['users', 'roles', 'sales-reps', 'audit'] },
] as const

/** A page with an entry in the menu. */
export type MenuPage = (typeof MENU)[number]['pages'][number]
