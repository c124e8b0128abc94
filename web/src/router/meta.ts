import 'vue-router'

declare module 'vue-router' {
  interface RouteMeta {
    /** Only for people who are signed in. */
    requiresAuth?: boolean
    /** One of these codes (or patterns `module.*`) is needed. */
    permissions?: readonly string[]
    /** Whether it is needed in all stores, as the server wants for what concerns all of them. */
    everywhere?: boolean
    /** Title of the page and its entry in the menu. */
    title?: string
  }
}
