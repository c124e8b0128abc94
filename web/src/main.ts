import '@fontsource-variable/inter/wght.css'
import './styles/tokens.css'
import './styles/base.css'
import './styles/parts.css'
import './composables/useTheme'
import { VueQueryPlugin } from '@tanstack/vue-query'
import { createPinia } from 'pinia'
import { createApp } from 'vue'
import App from './App.vue'
import { queryClient } from './api/queries'
import { makeRouter } from './router'
import { useSession } from './session/store'
import { i18n } from './texts'

const app = createApp(App)
app.use(i18n)
app.use(createPinia())
app.use(VueQueryPlugin, { queryClient })

// The frame stands at once. The first page is chosen when it is known who is signed in, since the guard asks that.
app.use(makeRouter(useSession().restore())).mount('#app')
